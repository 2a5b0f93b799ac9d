// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

interface Pullable {
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// Pays many receivers in one transaction, all or nothing. Native coin comes with the call and must match to the wei;
/// tokens are pulled from the caller, who approved this contract before.
contract BatchPayer {
    error LengthMismatch(uint256 receivers, uint256 amounts);
    error WrongValue(uint256 sent, uint256 needed);
    error PaymentRefused(address receiver);

    function payNative(address payable[] calldata receivers, uint256[] calldata amounts) external payable {
        if (receivers.length != amounts.length) revert LengthMismatch(receivers.length, amounts.length);
        uint256 needed;
        for (uint256 i; i < receivers.length; i++) {
            needed += amounts[i];
            (bool ok,) = receivers[i].call{value: amounts[i]}("");
            if (!ok) revert PaymentRefused(receivers[i]);
        }
        if (needed != msg.value) revert WrongValue(msg.value, needed);
    }

    function payToken(Pullable token, address[] calldata receivers, uint256[] calldata amounts) external {
        if (receivers.length != amounts.length) revert LengthMismatch(receivers.length, amounts.length);
        for (uint256 i; i < receivers.length; i++) {
            if (!token.transferFrom(msg.sender, receivers[i], amounts[i])) revert PaymentRefused(receivers[i]);
        }
    }
}
