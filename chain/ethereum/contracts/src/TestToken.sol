// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// A plain ERC-20 for development chains and tests. Whoever deploys it owns it and may mint.
contract TestToken {
    string public name;
    string public symbol;
    uint8 public immutable decimals;
    address public immutable owner;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    error NotOwner(address caller);
    error ZeroReceiver();
    error BalanceTooLow(address account, uint256 has, uint256 needs);
    error AllowanceTooLow(address spender, uint256 has, uint256 needs);

    constructor(string memory name_, string memory symbol_, uint8 decimals_) {
        name = name_;
        symbol = symbol_;
        decimals = decimals_;
        owner = msg.sender;
    }

    function mint(address to, uint256 value) external {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        if (to == address(0)) revert ZeroReceiver();
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external virtual returns (bool) {
        uint256 left = allowance[from][msg.sender];
        if (left < value) revert AllowanceTooLow(msg.sender, left, value);
        if (left != type(uint256).max) allowance[from][msg.sender] = left - value;
        _move(from, to, value);
        return true;
    }

    /// Moves value; a fee token overrides it.
    function _move(address from, address to, uint256 value) internal virtual {
        if (to == address(0)) revert ZeroReceiver();
        uint256 has = balanceOf[from];
        if (has < value) revert BalanceTooLow(from, has, value);
        unchecked {
            balanceOf[from] = has - value;
            balanceOf[to] += value;
        }
        emit Transfer(from, to, value);
    }
}
