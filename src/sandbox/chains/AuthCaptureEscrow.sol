// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// What a payer agrees to. Amounts in atomic units of the token, times in seconds since the epoch, fees in
/// hundredths of a percent of what is captured.
struct PaymentInfo {
    /// Who authorizes, captures and voids.
    address operator;
    address payer;
    address receiver;
    address token;
    uint120 maxAmount;
    /// From then on it cannot be authorized.
    uint48 preApprovalExpiry;
    /// From then on it cannot be captured, and the payer can reclaim it.
    uint48 authorizationExpiry;
    uint48 refundExpiry;
    uint16 minFeeBps;
    uint16 maxFeeBps;
    /// Zero: whom the operator names.
    address feeReceiver;
    uint256 salt;
}

enum CollectorType {
    Payment,
    Refund
}

interface TokenCollector {
    function collectTokens(
        PaymentInfo calldata info,
        address tokenStore,
        uint256 amount,
        bytes calldata collectorData
    ) external;

    function collectorType() external view returns (CollectorType);
}

interface Erc20 {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 value) external returns (bool);
}

/// For local chains: what locks the payments of x402's scheme `auth-capture` until they are captured, at the address
/// that clients sign for. Written anew from the interface of base/commerce-payments 1.1 alone, and smaller: nobody
/// can `charge` or `refund`, and the tokens of all operators are with the escrow itself.
contract AuthCaptureEscrow {
    struct PaymentState {
        /// Stays true: a payment is authorized once.
        bool hasCollectedPayment;
        uint120 capturableAmount;
        uint120 refundableAmount;
    }

    event PaymentAuthorized(
        bytes32 indexed paymentInfoHash, PaymentInfo paymentInfo, uint256 amount, address tokenCollector
    );
    event PaymentCaptured(bytes32 indexed paymentInfoHash, uint256 amount, uint256 feeAmount, address feeReceiver);
    event PaymentVoided(bytes32 indexed paymentInfoHash, uint256 amount);
    event PaymentReclaimed(bytes32 indexed paymentInfoHash, uint256 amount);

    error InvalidSender(address sender, address expected);
    error ZeroAmount();
    error AmountOverflow(uint256 amount, uint256 limit);
    error ExceedsMaxAmount(uint256 amount, uint256 maxAmount);
    error AfterPreApprovalExpiry(uint48 timestamp, uint48 expiry);
    error InvalidExpiries(uint48 preApproval, uint48 authorization, uint48 refund);
    error FeeBpsOverflow(uint16 feeBps);
    error InvalidFeeBpsRange(uint16 minFeeBps, uint16 maxFeeBps);
    error FeeAmountOutOfRange(uint256 feeAmount, uint256 minFeeAmount, uint256 maxFeeAmount);
    error ZeroFeeReceiver();
    error InvalidFeeReceiver(address attempted, address expected);
    error InvalidCollectorForOperation();
    error TokenCollectionFailed();
    error PaymentAlreadyCollected(bytes32 paymentInfoHash);
    error AfterAuthorizationExpiry(uint48 timestamp, uint48 expiry);
    error InsufficientAuthorization(bytes32 paymentInfoHash, uint256 authorizedAmount, uint256 requestedAmount);
    error ZeroAuthorization(bytes32 paymentInfoHash);
    error BeforeAuthorizationExpiry(uint48 timestamp, uint48 expiry);
    error Reentered();

    bytes32 public constant PAYMENT_INFO_TYPEHASH = keccak256(
        "PaymentInfo(address operator,address payer,address receiver,address token,uint120 maxAmount,uint48 preApprovalExpiry,uint48 authorizationExpiry,uint48 refundExpiry,uint16 minFeeBps,uint16 maxFeeBps,address feeReceiver,uint256 salt)"
    );
    uint256 private constant BPS = 10_000;

    /// By `getHash`.
    mapping(bytes32 => PaymentState) public paymentState;
    bool private busy;

    modifier only(address expected) {
        if (msg.sender != expected) revert InvalidSender(msg.sender, expected);
        _;
    }

    /// A collector is code of the operator's choice: with two payments under way, one balance would prove both.
    modifier alone() {
        if (busy) revert Reentered();
        busy = true;
        _;
        busy = false;
    }

    /// Locks the amount: the collector brings all of it, or nothing happens.
    function authorize(
        PaymentInfo calldata info,
        uint256 amount,
        address tokenCollector,
        bytes calldata collectorData
    ) external only(info.operator) alone {
        checkAmount(amount);
        checkTerms(info, amount);
        bytes32 id = getHash(info);
        if (paymentState[id].hasCollectedPayment) revert PaymentAlreadyCollected(id);
        paymentState[id] = PaymentState(true, uint120(amount), 0);
        emit PaymentAuthorized(id, info, amount, tokenCollector);
        collect(info, amount, TokenCollector(tokenCollector), collectorData);
    }

    /// Pays some of what is locked, or all of it, to the receiver, less the fee.
    function capture(PaymentInfo calldata info, uint256 amount, uint256 feeAmount, address feeReceiver)
        external
        only(info.operator)
        alone
    {
        checkAmount(amount);
        checkFee(info, amount, feeAmount, feeReceiver);
        if (block.timestamp >= info.authorizationExpiry) {
            revert AfterAuthorizationExpiry(uint48(block.timestamp), info.authorizationExpiry);
        }
        bytes32 id = getHash(info);
        PaymentState storage state = paymentState[id];
        if (state.capturableAmount < amount) revert InsufficientAuthorization(id, state.capturableAmount, amount);
        state.capturableAmount -= uint120(amount);
        state.refundableAmount += uint120(amount);
        emit PaymentCaptured(id, amount, feeAmount, feeReceiver);
        send(info.token, feeReceiver, feeAmount);
        send(info.token, info.receiver, amount - feeAmount);
    }

    /// Gives the payer back what is still locked, at any time.
    function void(PaymentInfo calldata info) external only(info.operator) alone {
        (bytes32 id, uint256 amount) = unlock(info);
        emit PaymentVoided(id, amount);
        send(info.token, info.payer, amount);
    }

    /// The payer's way to what is still locked, once it can no longer be captured.
    function reclaim(PaymentInfo calldata info) external only(info.payer) alone {
        if (block.timestamp < info.authorizationExpiry) {
            revert BeforeAuthorizationExpiry(uint48(block.timestamp), info.authorizationExpiry);
        }
        (bytes32 id, uint256 amount) = unlock(info);
        emit PaymentReclaimed(id, amount);
        send(info.token, info.payer, amount);
    }

    /// Of the payment on this chain, with this escrow.
    function getHash(PaymentInfo calldata info) public view returns (bytes32) {
        bytes32 terms = keccak256(abi.encode(PAYMENT_INFO_TYPEHASH, info));
        return keccak256(abi.encode(block.chainid, address(this), terms));
    }

    /// Where an operator's tokens are.
    function getTokenStore(address) external view returns (address) {
        return address(this);
    }

    function checkAmount(uint256 amount) private pure {
        if (amount == 0) revert ZeroAmount();
        if (amount > type(uint120).max) revert AmountOverflow(amount, type(uint120).max);
    }

    function checkTerms(PaymentInfo calldata info, uint256 amount) private view {
        if (amount > info.maxAmount) revert ExceedsMaxAmount(amount, info.maxAmount);
        if (block.timestamp >= info.preApprovalExpiry) {
            revert AfterPreApprovalExpiry(uint48(block.timestamp), info.preApprovalExpiry);
        }
        if (info.preApprovalExpiry > info.authorizationExpiry || info.authorizationExpiry > info.refundExpiry) {
            revert InvalidExpiries(info.preApprovalExpiry, info.authorizationExpiry, info.refundExpiry);
        }
        if (info.maxFeeBps > BPS) revert FeeBpsOverflow(info.maxFeeBps);
        if (info.minFeeBps > info.maxFeeBps) revert InvalidFeeBpsRange(info.minFeeBps, info.maxFeeBps);
    }

    function checkFee(PaymentInfo calldata info, uint256 amount, uint256 feeAmount, address feeReceiver) private pure {
        uint256 least = amount * info.minFeeBps / BPS;
        uint256 most = amount * info.maxFeeBps / BPS;
        if (feeAmount < least || feeAmount > most) revert FeeAmountOutOfRange(feeAmount, least, most);
        if (feeAmount > 0 && feeReceiver == address(0)) revert ZeroFeeReceiver();
        if (info.feeReceiver != address(0) && info.feeReceiver != feeReceiver) {
            revert InvalidFeeReceiver(feeReceiver, info.feeReceiver);
        }
    }

    function collect(
        PaymentInfo calldata info,
        uint256 amount,
        TokenCollector collector,
        bytes calldata collectorData
    ) private {
        if (collector.collectorType() != CollectorType.Payment) revert InvalidCollectorForOperation();
        uint256 before = Erc20(info.token).balanceOf(address(this));
        collector.collectTokens(info, address(this), amount, collectorData);
        if (Erc20(info.token).balanceOf(address(this)) != before + amount) revert TokenCollectionFailed();
    }

    function unlock(PaymentInfo calldata info) private returns (bytes32 id, uint256 amount) {
        id = getHash(info);
        amount = paymentState[id].capturableAmount;
        if (amount == 0) revert ZeroAuthorization(id);
        paymentState[id].capturableAmount = 0;
    }

    function send(address token, address to, uint256 amount) private {
        if (amount > 0) require(Erc20(token).transfer(to, amount), "the token was not transferred");
    }
}
