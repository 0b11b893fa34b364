// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {AuthCaptureEscrow, CollectorType, Erc20, PaymentInfo, TokenCollector} from "./AuthCaptureEscrow.sol";

interface Eip3009 is Erc20 {
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external;
}

/// For local chains: brings the escrow what a payer signed away by EIP-3009, at the address that clients sign for. The
/// nonce of the authorization is the hash of the payment without its payer, so that it pays for nothing else.
/// Written anew from the interface of base/commerce-payments 1.1 alone; wallets that are not on the chain yet
/// (ERC-6492) cannot pay here.
contract Eip3009Collector is TokenCollector {
    error OnlyAuthCaptureEscrow();

    AuthCaptureEscrow public constant authCaptureEscrow = AuthCaptureEscrow(0xf96815976523E00e65Be8f34cA5e64b4f41EB19c);
    CollectorType public constant collectorType = CollectorType.Payment;

    /// `signature` is the payer's, over all of `maxAmount`; what is above `amount` goes back.
    function collectTokens(PaymentInfo calldata info, address tokenStore, uint256 amount, bytes calldata signature)
        external
    {
        if (msg.sender != address(authCaptureEscrow)) revert OnlyAuthCaptureEscrow();
        PaymentInfo memory unpaid = info;
        unpaid.payer = address(0);
        bytes32 nonce = authCaptureEscrow.getHash(unpaid);
        Eip3009(info.token).receiveWithAuthorization(
            info.payer, address(this), info.maxAmount, 0, info.preApprovalExpiry, nonce, signature
        );
        send(info.token, tokenStore, amount);
        send(info.token, info.payer, info.maxAmount - amount);
    }

    function send(address token, address to, uint256 amount) private {
        if (amount > 0) require(Erc20(token).transfer(to, amount), "the token was not transferred");
    }
}
