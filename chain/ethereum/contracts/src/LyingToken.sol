// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// Says that it moved money and did not: for tests that nobody is credited on the word of a foreign contract.
contract LyingToken {
    event Transfer(address indexed from, address indexed to, uint256 value);

    /// Answers true and emits nothing: a payment with this token must never count as paid.
    function transfer(address, uint256) external pure returns (bool) {
        return true;
    }

    /// Emits a Transfer that never happened, under any names the caller likes.
    function claim(address from, address to, uint256 value) external {
        emit Transfer(from, to, value);
    }

    function balanceOf(address) external pure returns (uint256) {
        return 0;
    }
}
