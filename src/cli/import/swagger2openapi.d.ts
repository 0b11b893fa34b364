declare module 'swagger2openapi' {
  interface Options {
    /** Small errors of the document are mended. */
    readonly patch?: boolean;
    /** Those that cannot be mended are passed over. */
    readonly warnOnly?: boolean;
  }
  export function convertObj(document: object, options: Options): Promise<{ readonly openapi: object }>;
}
