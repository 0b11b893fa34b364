// Made from src/storefront/browser by `npm run codegen`. Changes here are lost: change the sources.
import{a,b,c,d,e,f,g,h,i,j,k}from"./part-RTMNDNP7.js";import"./part-UHX2P65K.js";export{f as Component,e as Fragment,j as cloneElement,k as createContext,c as createElement,d as createRef,c as h,i as hydrate,b as isValidElement,a as options,h as render,g as toChildArray};
