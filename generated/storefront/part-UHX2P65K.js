// Made from src/storefront/browser by `npm run codegen`. Changes here are lost: change the sources.
var d=Object.defineProperty;var e=(c,a)=>{for(var b in a)d(c,b,{get:a[b],enumerable:!0})};export{e as a};
