// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// A contract that signs for itself (ERC-1271).
interface SigningContract {
    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4);
}

/// A stablecoin for local chains: ERC-20 with EIP-3009 transfers, EIP-2612 permits, and an EIP-712 domain that is set once.
/// State is set by `initialize` and not by a constructor, because the code is put at the token's real address.
contract Eip3009Token {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

    bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant RECEIVE_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant CANCEL_AUTHORIZATION_TYPEHASH =
        keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");
    bytes32 public constant PERMIT_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    uint256 private constant HALF_CURVE_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;

    string public name;
    string public symbol;
    string public version;
    uint8 public decimals;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    /// True once used or cancelled.
    mapping(address => mapping(bytes32 => bool)) public authorizationState;
    /// Of the next permit (EIP-2612).
    mapping(address => uint256) public nonces;

    function initialize(
        string calldata name_,
        string calldata symbol_,
        string calldata version_,
        uint8 decimals_,
        address holder,
        uint256 supply
    ) external {
        require(totalSupply == 0, "already initialized");
        name = name_;
        symbol = symbol_;
        version = version_;
        decimals = decimals_;
        totalSupply = supply;
        balanceOf[holder] = supply;
        emit Transfer(address(0), holder, supply);
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(
            abi.encode(DOMAIN_TYPEHASH, keccak256(bytes(name)), keccak256(bytes(version)), block.chainid, address(this))
        );
    }

    function transfer(address to, uint256 value) external returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        grant(msg.sender, spender, value);
        return true;
    }

    function permit(
        address owner,
        address spender,
        uint256 value,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        require(block.timestamp <= deadline, "permit is expired");
        uint256 nonce = nonces[owner]++;
        checkSigner(owner, keccak256(abi.encode(PERMIT_TYPEHASH, owner, spender, value, nonce, deadline)), v, r, s);
        grant(owner, spender, value);
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        require(allowed >= value, "transfer amount exceeds allowance");
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - value;
        move(from, to, value);
        return true;
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        checkTime(validAfter, validBefore);
        bytes32 message = keccak256(
            abi.encode(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce)
        );
        spend(from, nonce, message, v, r, s);
        emit AuthorizationUsed(from, nonce);
        move(from, to, value);
    }

    /// As `transferWithAuthorization`, but for the recipient alone to call: what it does besides cannot be cut off.
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        bytes32 message = receiveMessage(from, to, value, validAfter, validBefore, nonce);
        spend(from, nonce, message, v, r, s);
        emit AuthorizationUsed(from, nonce);
        move(from, to, value);
    }

    /// `signature` is r, s and v in 65 bytes, or what the payer's contract takes for one.
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external {
        bytes32 message = receiveMessage(from, to, value, validAfter, validBefore, nonce);
        if (from.code.length > 0) {
            spendByContract(from, nonce, message, signature);
        } else {
            require(signature.length == 65, "invalid signature");
            spend(from, nonce, message, uint8(signature[64]), bytes32(signature[:32]), bytes32(signature[32:64]));
        }
        emit AuthorizationUsed(from, nonce);
        move(from, to, value);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external {
        spend(authorizer, nonce, keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce)), v, r, s);
        emit AuthorizationCanceled(authorizer, nonce);
    }

    function checkTime(uint256 validAfter, uint256 validBefore) private view {
        require(block.timestamp > validAfter, "authorization is not yet valid");
        require(block.timestamp < validBefore, "authorization is expired");
    }

    function receiveMessage(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce
    ) private view returns (bytes32) {
        require(to == msg.sender, "caller must be the payee");
        checkTime(validAfter, validBefore);
        return keccak256(
            abi.encode(RECEIVE_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce)
        );
    }

    function spend(address authorizer, bytes32 nonce, bytes32 message, uint8 v, bytes32 r, bytes32 s) private {
        spendNonce(authorizer, nonce);
        checkSigner(authorizer, message, v, r, s);
    }

    function checkSigner(address expected, bytes32 message, uint8 v, bytes32 r, bytes32 s) private view {
        require(uint256(s) <= HALF_CURVE_ORDER, "invalid signature");
        address signer = ecrecover(digestOf(message), v, r, s);
        require(signer != address(0) && signer == expected, "invalid signature");
    }

    function spendByContract(address authorizer, bytes32 nonce, bytes32 message, bytes calldata signature) private {
        spendNonce(authorizer, nonce);
        bytes4 answer = SigningContract(authorizer).isValidSignature(digestOf(message), signature);
        require(answer == SigningContract.isValidSignature.selector, "invalid signature");
    }

    function spendNonce(address authorizer, bytes32 nonce) private {
        require(!authorizationState[authorizer][nonce], "authorization is used or canceled");
        authorizationState[authorizer][nonce] = true;
    }

    function digestOf(bytes32 message) private view returns (bytes32) {
        return keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), message));
    }

    function grant(address owner, address spender, uint256 value) private {
        allowance[owner][spender] = value;
        emit Approval(owner, spender, value);
    }

    function move(address from, address to, uint256 value) private {
        require(to != address(0), "transfer to the zero address");
        require(balanceOf[from] >= value, "transfer amount exceeds balance");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
