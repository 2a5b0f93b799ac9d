// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import "./Payouts.sol";

/// Receives native coin in the ways that could harm who pays several payees.
contract HostilePayee {
    /// 0 accepts, 1 reverts, 2 burns all gas, 3 reverts with much data, 4 pays a third party by the same contract.
    uint256 public mode;
    address public third;

    error Much();

    function set(uint256 mode_, address third_) external payable {
        mode = mode_;
        third = third_;
    }

    receive() external payable {
        if (mode == 1) revert();
        if (mode == 2) while (true) {}
        if (mode == 3) {
            assembly {
                revert(0, 100000)
            }
        }
        if (mode == 4) Payouts(msg.sender).payCoin{value: 3}(0, abi.encodePacked(third, uint128(3)));
    }

    /// Spends more than it brings: must revert.
    function steal(Payouts payouts, uint128 amount) external {
        payouts.payCoin(0, abi.encodePacked(address(this), amount));
    }
}
