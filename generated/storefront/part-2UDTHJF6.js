// Made from src/storefront/browser by `npm run codegen`. Changes here are lost: change the sources.
