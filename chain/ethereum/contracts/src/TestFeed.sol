// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// A price feed in the form of Chainlink's AggregatorV3Interface that says whatever it was told: for tests of what is believed.
contract TestFeed {
    uint8 public decimals;
    uint80 private round;
    int256 private answer;
    uint256 private updatedAt;
    uint80 private answeredInRound;

    constructor(uint8 decimals_) {
        decimals = decimals_;
    }

    function setDecimals(uint8 decimals_) external {
        decimals = decimals_;
    }

    /// Ends a round with an answer.
    function post(int256 answer_, uint256 updatedAt_) external {
        round++;
        answeredInRound = round;
        answer = answer_;
        updatedAt = updatedAt_;
    }

    /// Begins a round that nobody has answered yet: the answer is of the round before.
    function begin() external {
        round++;
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return (round, answer, updatedAt, updatedAt, answeredInRound);
    }
}
