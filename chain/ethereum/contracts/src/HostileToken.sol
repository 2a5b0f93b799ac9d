// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import "./Payouts.sol";
import "./TestToken.sol";

/// A token whose transfers to chosen payees go wrong, each in its own way.
contract HostileToken is TestToken {
    /// 0 moves, 1 reverts, 2 answers false, 3 burns all gas, 4 reverts with much data, 5 moves and answers much data,
    /// 6 moves and answers nothing, 7 answers true and moves nothing, 8 moves half, 9 moves and calls the caller again,
    /// 10 moves silently and answers false, 11 moves and answers two
    mapping(address => uint256) public mode;

    constructor() TestToken("Hostile", "HOST", 6) {}

    function set(address payee, uint256 mode_) external {
        mode[payee] = mode_;
    }

    function transferFrom(address from, address to, uint256 value) external override returns (bool) {
        uint256 m = mode[to];
        if (m == 1) revert();
        if (m == 2) return false;
        if (m == 3) while (true) {}
        if (m == 4) {
            assembly {
                revert(0, 100000)
            }
        }
        if (m == 7) return true;
        if (m == 10) {
            balanceOf[from] -= value;
            balanceOf[to] += value;
            return false;
        }
        _move(from, to, m == 8 ? value / 2 : value);
        if (m == 9) {
            mode[to] = 0;
            this.approve(msg.sender, type(uint256).max);
            Payouts(msg.sender).payToken(address(this), 100_000, abi.encodePacked(to, uint128(0)));
            mode[to] = 9;
        }
        assembly {
            mstore(0, 1)
            if eq(m, 5) { return(0, 10000) }
            if eq(m, 6) { return(0, 0) }
            if eq(m, 11) { mstore(0, 2) }
            return(0, 32)
        }
    }
}
