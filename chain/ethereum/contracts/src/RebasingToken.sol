// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import "./TestToken.sol";

/// Everybody's balance changes without an event: an elastic supply, a seizure, a token that rots.
contract RebasingToken is TestToken {
    constructor(string memory name_, string memory symbol_, uint8 decimals_) TestToken(name_, symbol_, decimals_) {}

    /// Leaves an account the given number of hundredths of what it has.
    function rebase(address account, uint256 percent) external {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        balanceOf[account] = balanceOf[account] * percent / 100;
    }
}
