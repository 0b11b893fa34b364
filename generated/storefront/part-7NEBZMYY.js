// Made from src/storefront/browser by `npm run codegen`. Changes here are lost: change the sources.
import{a,b,c,d,e}from"./part-653IOKZV.js";import"./part-M34S3UEX.js";import"./part-YNC6VHBZ.js";import"./part-OY5PCFX6.js";import"./part-UHX2P65K.js";export{e as encodeToCurve,d as hashToCurve,b as schnorr,a as secp256k1,c as secp256k1_hasher};
