// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// Refuses native coin, unless it was told to accept it.
contract Rejector {
    bool public accepts;

    error NotWanted();

    function setAccepts(bool accepts_) external {
        accepts = accepts_;
    }

    receive() external payable {
        if (!accepts) revert NotWanted();
    }
}
