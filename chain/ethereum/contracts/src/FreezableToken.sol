// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import "./TestToken.sol";

/// A token whose issuer freezes accounts, pauses all transfers or bounds their amount, as issuers of stablecoins do.
/// It refuses by a revert or, when it is quiet, by the answer false. Anybody may change all of this: it is for tests.
contract FreezableToken is TestToken {
    mapping(address => bool) public frozen;
    bool public paused;
    bool public quiet;
    uint256 public limit; // of one transfer; 0: none

    error Refused(address from, address to, uint256 value);

    constructor(string memory name_, string memory symbol_, uint8 decimals_) TestToken(name_, symbol_, decimals_) {}

    function freeze(address account, bool frozen_) external {
        frozen[account] = frozen_;
    }

    function pause(bool paused_) external {
        paused = paused_;
    }

    function setQuiet(bool quiet_) external {
        quiet = quiet_;
    }

    function setLimit(uint256 limit_) external {
        limit = limit_;
    }

    function _move(address from, address to, uint256 value) internal override {
        bool refused = paused || frozen[from] || frozen[to] || (limit > 0 && value > limit);
        if (refused && !quiet) revert Refused(from, to, value);
        if (refused) {
            assembly {
                mstore(0, 0)
                return(0, 32)
            }
        }
        super._move(from, to, value);
    }
}
