// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

interface Token {
    function balanceOf(address holder) external view returns (uint256);
    function transfer(address to, uint256 value) external returns (bool);
}

/// A wallet that is a contract (ERC-1271). What it takes for signed is a byte and its owner's signature.
contract Wallet {
    address private immutable owner;
    WalletFactory.Temper private immutable temper;

    constructor(address owner_, WalletFactory.Temper temper_, Token token) {
        owner = owner_;
        temper = temper_;
        if (temper_ == WalletFactory.Temper.Generous) token.transfer(owner_, token.balanceOf(address(this)));
        if (temper_ == WalletFactory.Temper.Dear) for (uint256 slot; slot < 30; slot++) assembly { sstore(slot, 1) }
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        // Simulations pay nothing for gas.
        if (temper == WalletFactory.Temper.Fickle && tx.gasprice > 0) return 0xffffffff;
        if (signature.length != 66) return 0xffffffff;
        address signer =
            ecrecover(digest, uint8(signature[65]), bytes32(signature[1:33]), bytes32(signature[33:65]));
        return signer == owner ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}

/// Deploys wallets at addresses that are known before.
contract WalletFactory {
    enum Temper { Plain, Fickle, Generous, Dear }

    function create(address owner, Temper temper, Token token, bytes32 salt) external returns (address wallet) {
        wallet = addressOf(owner, temper, token, salt);
        if (wallet.code.length == 0) new Wallet{salt: salt}(owner, temper, token);
    }

    function addressOf(address owner, Temper temper, Token token, bytes32 salt) public view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(Wallet).creationCode, abi.encode(owner, temper, token)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, code)))));
    }
}
