// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// Native coin that moves inside a transaction, where only a trace shows it.
contract Forwarder {
    error Undone();

    receive() external payable {}

    /// Hands the call's value on.
    function forward(address payable to) public payable {
        (bool ok,) = to.call{value: msg.value}("");
        require(ok, "refused");
    }

    /// Hands the value on and takes the step back: the transaction succeeds, the receiver gets nothing
    /// and the value stays here.
    function forwardUndone(address payable to) external payable {
        try this.forwardThenRevert{value: msg.value}(to) {} catch {}
    }

    function forwardThenRevert(address payable to) external payable {
        forward(to);
        revert Undone();
    }

    /// Pays out by destroying a contract made in the same transaction: no CALL frame carries the value.
    function forwardByDestruction(address payable to) external payable {
        new Ephemeral{value: msg.value}(to);
    }
}

/// Lives only inside its constructor.
contract Ephemeral {
    constructor(address payable to) payable {
        selfdestruct(to);
    }
}
