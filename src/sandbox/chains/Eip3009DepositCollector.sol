// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {DepositCollector} from "./BatchSettlement.sol";
import {Eip3009} from "./Eip3009Collector.sol";

/// For local chains: brings the channels of x402's scheme `batch-settlement` what a payer signed away by EIP-3009, at the
/// address that clients sign for. The nonce of the authorization is of one channel and a salt, so that it fills no other.
/// Written anew from the interface alone.
contract Eip3009DepositCollector is DepositCollector {
    error OnlySettlement();

    address public constant settlement = 0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003;

    /// `data` is validAfter, validBefore, salt and the payer's signature, over all of the amount.
    function collect(address payer, address token, uint256 amount, bytes32 channelId, bytes calldata data) external {
        if (msg.sender != settlement) revert OnlySettlement();
        (uint256 validAfter, uint256 validBefore, uint256 salt, bytes memory signature) =
            abi.decode(data, (uint256, uint256, uint256, bytes));
        bytes32 nonce = keccak256(abi.encode(channelId, salt));
        Eip3009(token).receiveWithAuthorization(payer, address(this), amount, validAfter, validBefore, nonce, signature);
        require(Eip3009(token).transfer(settlement, amount), "the token was not transferred");
    }
}
