// Made from src/storefront/browser by `npm run codegen`. Changes here are lost: change the sources.
var o="/v1/chat/completions",t="/v1/models",s="/v1/credits";var c="/v1/channels";export{o as a,t as b,s as c,c as d};
