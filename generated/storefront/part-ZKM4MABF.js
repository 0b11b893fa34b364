// Made from src/storefront/browser by `npm run codegen`. Changes here are lost: change the sources.
import{a,b,c,d,e}from"./part-QK3LTUU5.js";import"./part-ZB4FIZNM.js";import"./part-LDFLP3FL.js";import"./part-BNE4O55X.js";import"./part-UHX2P65K.js";export{e as encodeToCurve,d as hashToCurve,b as schnorr,a as secp256k1,c as secp256k1_hasher};
