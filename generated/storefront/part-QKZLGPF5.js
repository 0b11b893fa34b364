// Made from src/storefront/browser by `npm run codegen`. Changes here are lost: change the sources.
import{Ub as a,Vb as b,Wb as c,Xb as d}from"./part-E4EDUJZJ.js";import"./part-YNC6VHBZ.js";import"./part-OY5PCFX6.js";import"./part-UHX2P65K.js";export{d as ccipRequest,c as offchainLookup,b as offchainLookupAbiItem,a as offchainLookupSignature};
