// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// Moves money like the old tokens do: transfer answers nothing at all instead of true.
contract SilentToken {
    string public constant name = "Silent token";
    string public constant symbol = "MUTE";
    uint8 public constant decimals = 6;
    uint256 public constant totalSupply = 1e15;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor() {
        balanceOf[msg.sender] = totalSupply;
        emit Transfer(address(0), msg.sender, totalSupply);
    }

    function transfer(address to, uint256 value) external {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
    }
}
