// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {Erc20} from "./AuthCaptureEscrow.sol";
import {SigningContract} from "./Eip3009Token.sol";

/// What a channel is known by, as EIP-712 hashes it; it never changes.
struct ChannelConfig {
    address payer;
    /// Whose key signs vouchers. Zero: the payer signs, by its key or by its contract.
    address payerAuthorizer;
    address receiver;
    /// Who signs for the receiver what others send.
    address receiverAuthorizer;
    address token;
    /// Seconds from asking for a withdrawal until it can be made.
    uint40 withdrawDelay;
    bytes32 salt;
}

/// What the payer lets the receiver have of the channel, in all its time. Atomic units.
struct Voucher {
    ChannelConfig channel;
    uint128 maxClaimableAmount;
}

struct VoucherClaim {
    Voucher voucher;
    /// The payer's, over the channel's id and the amount.
    bytes signature;
    /// What the receiver takes of it, in all the channel's time.
    uint128 totalClaimed;
}

interface DepositCollector {
    /// Brings the caller the payer's tokens.
    function collect(address payer, address token, uint256 amount, bytes32 channelId, bytes calldata data) external;
}

/// For local chains: the channels of x402's scheme `batch-settlement`, at the address that clients sign for. Written anew
/// from the interface alone. Digests are not told here: who signs makes them.
contract BatchSettlement {
    struct ChannelState {
        /// What was deposited, less what the payer had back.
        uint128 balance;
        uint128 totalClaimed;
    }

    struct WithdrawalState {
        uint128 amount;
        /// Seconds since the epoch; zero: none is pending.
        uint40 initiatedAt;
    }

    struct ReceiverState {
        uint128 totalClaimed;
        uint128 totalSettled;
    }

    event ChannelCreated(bytes32 indexed channelId, ChannelConfig config);
    event ChannelClosed(bytes32 indexed channelId, ChannelConfig config);
    event Deposited(bytes32 indexed channelId, address indexed sender, uint128 amount, uint128 newBalance);
    event Claimed(bytes32 indexed channelId, address indexed sender, uint128 claimAmount, uint128 newTotalClaimed);
    event Settled(address indexed receiver, address indexed token, address indexed sender, uint128 amount);
    event Refunded(bytes32 indexed channelId, address indexed sender, uint128 amount);
    event WithdrawInitiated(bytes32 indexed channelId, uint128 amount, uint40 finalizeAfter);
    event WithdrawFinalized(bytes32 indexed channelId, address indexed sender, uint128 amount);

    error InvalidChannel();
    error ZeroDeposit();
    error DepositOverflow();
    error InvalidSignature();
    error NotReceiverAuthorizer();
    error NotAuthorizedToClaim();
    error NotAuthorizedToRefund();
    error ClaimExceedsCeiling();
    error ClaimExceedsBalance();
    error WithdrawalAlreadyPending();
    error WithdrawalNotPending();
    error NotAuthorizedToFinalizeWithdraw();
    error WithdrawDelayNotElapsed();
    error NothingToWithdraw();
    error WithdrawAmountExceedsAvailable();
    error WithdrawDelayOutOfRange();
    error EmptyBatch();
    error DepositCollectionFailed();
    error InvalidCollector();
    error InvalidRefundNonce();
    error ZeroRefund();
    error ReentrancyGuardReentrantCall();

    uint40 private constant MIN_WITHDRAW_DELAY = 15 minutes;
    uint40 private constant MAX_WITHDRAW_DELAY = 30 days;
    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant CHANNEL_CONFIG_TYPEHASH = keccak256(
        "ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)"
    );
    bytes32 private constant VOUCHER_TYPEHASH = keccak256("Voucher(bytes32 channelId,uint128 maxClaimableAmount)");
    bytes32 private constant REFUND_TYPEHASH = keccak256("Refund(bytes32 channelId,uint256 nonce,uint128 amount)");
    bytes32 private constant CLAIM_BATCH_TYPEHASH = keccak256(
        "ClaimBatch(ClaimEntry[] claims)ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)"
    );
    bytes32 private constant CLAIM_ENTRY_TYPEHASH =
        keccak256("ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)");
    uint256 private constant HALF_CURVE_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;

    /// By `getChannelId`, as are those below.
    mapping(bytes32 => ChannelState) public channels;
    mapping(bytes32 => WithdrawalState) public pendingWithdrawals;
    /// What the next signed refund must name.
    mapping(bytes32 => uint256) public refundNonce;
    /// By receiver and token.
    mapping(address => mapping(address => ReceiverState)) public receivers;
    bool private busy;

    /// A collector is code of the caller's choice: with two deposits under way, one balance would prove both.
    modifier alone() {
        if (busy) revert ReentrancyGuardReentrantCall();
        busy = true;
        _;
        busy = false;
    }

    /// Adds to the channel: the collector brings all of the amount, or nothing happens.
    function deposit(ChannelConfig calldata config, uint128 amount, address collector, bytes calldata collectorData)
        external
        alone
    {
        if (amount == 0) revert ZeroDeposit();
        if (collector == address(0)) revert InvalidCollector();
        checkConfig(config);
        bytes32 id = getChannelId(config);
        ChannelState storage state = channels[id];
        if (amount > type(uint128).max - state.balance) revert DepositOverflow();
        collect(config, amount, id, DepositCollector(collector), collectorData);
        if (state.balance == 0 && state.totalClaimed == 0) emit ChannelCreated(id, config);
        state.balance += amount;
        emit Deposited(id, msg.sender, amount, state.balance);
    }

    /// Counts what vouchers give as the receiver's: all rows, or none. Tokens move when it is settled.
    function claim(VoucherClaim[] calldata voucherClaims) external alone {
        if (voucherClaims.length == 0) revert EmptyBatch();
        for (uint256 i = 0; i < voucherClaims.length; i++) {
            if (!isForReceiver(voucherClaims[i].voucher.channel)) revert NotAuthorizedToClaim();
            count(voucherClaims[i]);
        }
    }

    /// As `claim`, for anybody to send. The rows must have one authorizer, which has signed all of them together.
    function claimWithSignature(VoucherClaim[] calldata voucherClaims, bytes calldata authorizerSignature)
        external
        alone
    {
        if (voucherClaims.length == 0) revert EmptyBatch();
        address authorizer = voucherClaims[0].voucher.channel.receiverAuthorizer;
        bytes32[] memory entries = new bytes32[](voucherClaims.length);
        for (uint256 i = 0; i < voucherClaims.length; i++) {
            Voucher calldata voucher = voucherClaims[i].voucher;
            if (voucher.channel.receiverAuthorizer != authorizer) revert NotReceiverAuthorizer();
            entries[i] = keccak256(
                abi.encode(
                    CLAIM_ENTRY_TYPEHASH,
                    getChannelId(voucher.channel),
                    voucher.maxClaimableAmount,
                    voucherClaims[i].totalClaimed
                )
            );
        }
        bytes32 batch = keccak256(abi.encode(CLAIM_BATCH_TYPEHASH, keccak256(abi.encodePacked(entries))));
        if (!hasSigned(authorizer, digestOf(batch), authorizerSignature)) revert InvalidSignature();
        for (uint256 i = 0; i < voucherClaims.length; i++) count(voucherClaims[i]);
    }

    /// Sends the receiver what was claimed for it and not sent yet, whoever asks.
    function settle(address receiver, address token) external alone {
        ReceiverState storage state = receivers[receiver][token];
        uint128 amount = state.totalClaimed - state.totalSettled;
        if (amount == 0) return;
        state.totalSettled = state.totalClaimed;
        emit Settled(receiver, token, msg.sender, amount);
        send(token, receiver, amount);
    }

    /// The payer's way to what is not claimed: asks for it, and can have it once the delay is over.
    function initiateWithdraw(ChannelConfig calldata config, uint128 amount) external {
        if (!isForPayer(config)) revert InvalidChannel();
        if (amount == 0) revert NothingToWithdraw();
        bytes32 id = getChannelId(config);
        if (pendingWithdrawals[id].initiatedAt != 0) revert WithdrawalAlreadyPending();
        if (amount > unclaimed(id)) revert WithdrawAmountExceedsAvailable();
        pendingWithdrawals[id] = WithdrawalState(amount, uint40(block.timestamp));
        emit WithdrawInitiated(id, amount, uint40(block.timestamp) + config.withdrawDelay);
    }

    /// Sends the payer what it asked for, as far as it was not claimed meanwhile.
    function finalizeWithdraw(ChannelConfig calldata config) external alone {
        if (!isForPayer(config)) revert NotAuthorizedToFinalizeWithdraw();
        bytes32 id = getChannelId(config);
        WithdrawalState memory pending = pendingWithdrawals[id];
        if (pending.initiatedAt == 0) revert WithdrawalNotPending();
        if (block.timestamp < pending.initiatedAt + config.withdrawDelay) revert WithdrawDelayNotElapsed();
        uint128 amount = smaller(pending.amount, unclaimed(id));
        delete pendingWithdrawals[id];
        channels[id].balance -= amount;
        emit WithdrawFinalized(id, msg.sender, amount);
        payBack(config, id, amount);
    }

    /// The receiver gives up some of what it could still claim, or all of it.
    function refund(ChannelConfig calldata config, uint128 amount) external alone {
        if (!isForReceiver(config)) revert NotAuthorizedToRefund();
        giveBack(config, getChannelId(config), amount);
    }

    /// As `refund`, for anybody to send, once.
    function refundWithSignature(
        ChannelConfig calldata config,
        uint128 amount,
        uint256 nonce,
        bytes calldata receiverAuthorizerSignature
    ) external alone {
        bytes32 id = getChannelId(config);
        if (nonce != refundNonce[id]) revert InvalidRefundNonce();
        bytes32 digest = digestOf(keccak256(abi.encode(REFUND_TYPEHASH, id, nonce, amount)));
        if (!hasSigned(config.receiverAuthorizer, digest, receiverAuthorizerSignature)) revert InvalidSignature();
        giveBack(config, id, amount);
    }

    /// Calls this contract with each entry in turn, as the sender: all of them, or none.
    function multicall(bytes[] calldata data) external returns (bytes[] memory results) {
        results = new bytes[](data.length);
        for (uint256 i = 0; i < data.length; i++) {
            (bool done, bytes memory result) = address(this).delegatecall(data[i]);
            if (!done) {
                assembly {
                    revert(add(result, 32), mload(result))
                }
            }
            results[i] = result;
        }
    }

    /// Of the channel on this chain, with this contract.
    function getChannelId(ChannelConfig calldata config) public view returns (bytes32) {
        return digestOf(keccak256(abi.encode(CHANNEL_CONFIG_TYPEHASH, config)));
    }

    function checkConfig(ChannelConfig calldata config) private pure {
        if (
            config.payer == address(0) || config.receiver == address(0) || config.receiverAuthorizer == address(0)
                || config.token == address(0)
        ) revert InvalidChannel();
        if (config.withdrawDelay < MIN_WITHDRAW_DELAY || config.withdrawDelay > MAX_WITHDRAW_DELAY) {
            revert WithdrawDelayOutOfRange();
        }
    }

    function isForReceiver(ChannelConfig calldata config) private view returns (bool) {
        return msg.sender == config.receiver || msg.sender == config.receiverAuthorizer;
    }

    function isForPayer(ChannelConfig calldata config) private view returns (bool) {
        return msg.sender == config.payer || msg.sender == config.payerAuthorizer;
    }

    function unclaimed(bytes32 id) private view returns (uint128) {
        return channels[id].balance - channels[id].totalClaimed;
    }

    function collect(
        ChannelConfig calldata config,
        uint128 amount,
        bytes32 id,
        DepositCollector collector,
        bytes calldata collectorData
    ) private {
        uint256 before = Erc20(config.token).balanceOf(address(this));
        collector.collect(config.payer, config.token, amount, id, collectorData);
        if (Erc20(config.token).balanceOf(address(this)) != before + amount) revert DepositCollectionFailed();
    }

    /// A row that claims no more than was claimed before changes nothing.
    function count(VoucherClaim calldata row) private {
        ChannelConfig calldata config = row.voucher.channel;
        bytes32 id = getChannelId(config);
        ChannelState storage state = channels[id];
        if (row.totalClaimed > row.voucher.maxClaimableAmount) revert ClaimExceedsCeiling();
        if (row.totalClaimed > state.balance) revert ClaimExceedsBalance();
        checkVoucher(row, id);
        if (row.totalClaimed <= state.totalClaimed) return;
        uint128 amount = row.totalClaimed - state.totalClaimed;
        state.totalClaimed = row.totalClaimed;
        receivers[config.receiver][config.token].totalClaimed += amount;
        emit Claimed(id, msg.sender, amount, row.totalClaimed);
    }

    /// An authorizer signs by its key even where its address has code.
    function checkVoucher(VoucherClaim calldata row, bytes32 id) private view {
        ChannelConfig calldata config = row.voucher.channel;
        bytes32 digest = digestOf(keccak256(abi.encode(VOUCHER_TYPEHASH, id, row.voucher.maxClaimableAmount)));
        bool signed = config.payerAuthorizer == address(0)
            ? hasSigned(config.payer, digest, row.signature)
            : isSignedByKey(config.payerAuthorizer, digest, row.signature);
        if (!signed) revert InvalidSignature();
    }

    /// Counts as a refund even where nothing is left to send. It makes good as much of a pending withdrawal.
    function giveBack(ChannelConfig calldata config, bytes32 id, uint128 wanted) private {
        if (wanted == 0) revert ZeroRefund();
        refundNonce[id]++;
        uint128 amount = smaller(wanted, unclaimed(id));
        if (amount == 0) return;
        channels[id].balance -= amount;
        WithdrawalState storage pending = pendingWithdrawals[id];
        if (amount < pending.amount) pending.amount -= amount;
        else delete pendingWithdrawals[id];
        emit Refunded(id, msg.sender, amount);
        payBack(config, id, amount);
    }

    function payBack(ChannelConfig calldata config, bytes32 id, uint128 amount) private {
        if (channels[id].balance == 0 && channels[id].totalClaimed == 0) emit ChannelClosed(id, config);
        send(config.token, config.payer, amount);
    }

    function send(address token, address to, uint256 amount) private {
        if (amount > 0) require(Erc20(token).transfer(to, amount), "the token was not transferred");
    }

    /// By its contract where there is one (ERC-1271), else by its key.
    function hasSigned(address signer, bytes32 digest, bytes calldata signature) private view returns (bool) {
        if (signer.code.length == 0) return isSignedByKey(signer, digest, signature);
        (bool done, bytes memory answer) =
            signer.staticcall(abi.encodeCall(SigningContract.isValidSignature, (digest, signature)));
        return done && answer.length >= 32 && bytes32(answer) == bytes32(SigningContract.isValidSignature.selector);
    }

    /// `signature` is r, s and v in 65 bytes.
    function isSignedByKey(address signer, bytes32 digest, bytes calldata signature) private pure returns (bool) {
        if (signature.length != 65 || uint256(bytes32(signature[32:64])) > HALF_CURVE_ORDER) return false;
        address found = ecrecover(digest, uint8(signature[64]), bytes32(signature[:32]), bytes32(signature[32:64]));
        return found != address(0) && found == signer;
    }

    function digestOf(bytes32 message) private view returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(DOMAIN_TYPEHASH, keccak256("x402 Batch Settlement"), keccak256("1"), block.chainid, address(this))
        );
        return keccak256(abi.encodePacked("\x19\x01", domain, message));
    }

    function smaller(uint128 one, uint128 other) private pure returns (uint128) {
        return one < other ? one : other;
    }
}
