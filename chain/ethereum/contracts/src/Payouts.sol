// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// Makes several payouts of its caller in one transaction. It has no owner, no storage and no way to keep coin: what a
/// call brings is paid out or returned in the same call. A call spends its own value and its caller's tokens only, so
/// calls from inside a payment harm no other.
///
/// Payees are packed: 20 bytes of address, 16 bytes of amount.
contract Payouts {
    /// Bit n is set if payee n was paid. The last event of a transaction is that of its outermost call.
    event Paid(address indexed payer, uint256 paid);

    error WrongPayees();
    error ValueTooLow();
    error GasTooLow();
    error NoToken();
    error NothingPaid();
    error NotReturned();

    uint256 private constant PAYEE = 36;
    /// What remains beside the gas of a payment: for the call itself (cold account, delegation, value, new account),
    /// and afterwards for the return and the event.
    uint256 private constant RESERVE = 45_000;

    /// Sends coin to payees. One that refuses it, or needs more gas than gasCap (and the stipend), is passed over.
    function payCoin(uint256 gasCap, bytes calldata payees) external payable returns (uint256 paid) {
        (uint256 pos, uint256 end) = _range(payees);
        uint256 needed = _needed(gasCap);
        uint256 left = msg.value;
        for (uint256 bit = 1; pos != end; bit <<= 1) {
            (address to, uint256 amount) = _payee(pos);
            if (amount > left) revert ValueTooLow();
            if (gasleft() < needed) revert GasTooLow();
            if (_send(gasCap, to, amount)) {
                unchecked {
                    left -= amount;
                }
                paid |= bit;
            }
            pos = _next(pos);
        }
        if (paid == 0) revert NothingPaid();
        if (left > 0 && !_send(gasleft(), msg.sender, left)) revert NotReturned();
        emit Paid(msg.sender, paid);
    }

    /// Moves tokens of the caller to payees. A transfer is made if the token answers true or nothing; one that fails,
    /// or needs more gas than gasCap, is passed over.
    function payToken(address token, uint256 gasCap, bytes calldata payees) external returns (uint256 paid) {
        (uint256 pos, uint256 end) = _range(payees);
        uint256 needed = _needed(gasCap);
        if (token.code.length == 0) revert NoToken();
        for (uint256 bit = 1; pos != end; bit <<= 1) {
            (address to, uint256 amount) = _payee(pos);
            if (gasleft() < needed) revert GasTooLow();
            if (_move(token, gasCap, to, amount)) paid |= bit;
            pos = _next(pos);
        }
        if (paid == 0) revert NothingPaid();
        emit Paid(msg.sender, paid);
    }

    function _range(bytes calldata payees) private pure returns (uint256 pos, uint256 end) {
        if (payees.length % PAYEE != 0 || payees.length > 256 * PAYEE) revert WrongPayees();
        assembly ("memory-safe") {
            pos := payees.offset
            end := add(pos, payees.length)
        }
    }

    /// The gas before a payment with which its call gets all of gasCap (EIP-150).
    function _needed(uint256 gasCap) private pure returns (uint256) {
        return gasCap + gasCap / 63 + RESERVE;
    }

    function _payee(uint256 pos) private pure returns (address to, uint256 amount) {
        assembly ("memory-safe") {
            to := shr(96, calldataload(pos))
            amount := shr(128, calldataload(add(pos, 20)))
        }
    }

    function _next(uint256 pos) private pure returns (uint256) {
        unchecked {
            return pos + PAYEE;
        }
    }

    /// No returned data is copied.
    function _send(uint256 gasCap, address to, uint256 amount) private returns (bool ok) {
        assembly ("memory-safe") {
            ok := call(gasCap, to, amount, 0, 0, 0, 0)
        }
    }

    /// One word of returned data is copied.
    function _move(address token, uint256 gasCap, address to, uint256 amount) private returns (bool ok) {
        assembly ("memory-safe") {
            let input := mload(0x40)
            mstore(input, shl(224, 0x23b872dd)) // transferFrom(address,address,uint256)
            mstore(add(input, 0x04), caller())
            mstore(add(input, 0x24), to)
            mstore(add(input, 0x44), amount)
            ok := call(gasCap, token, 0, input, 0x64, 0, 0x20)
            if returndatasize() { ok := and(ok, and(gt(returndatasize(), 0x1f), eq(mload(0), 1))) }
        }
    }
}
