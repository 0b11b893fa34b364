// Made from src/storefront/browser by `npm run codegen`. Changes here are lost: change the sources.
import{a as s}from"./part-M34S3UEX.js";var h=s;export{h as a};
