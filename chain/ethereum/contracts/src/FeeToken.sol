// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import "./TestToken.sol";

/// Takes one percent of every transfer, so that less arrives than was sent. Its Transfer events tell the truth:
/// one for what arrives and one for the fee, which goes to the owner.
contract FeeToken is TestToken {
    constructor() TestToken("Fee on transfer", "FEE", 6) {}

    function _move(address from, address to, uint256 value) internal override {
        uint256 fee = value / 100;
        super._move(from, to, value - fee);
        if (fee > 0) super._move(from, owner, fee);
    }
}
