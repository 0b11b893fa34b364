/** What the gateway itself is asked for, beside the documents and what its catalogue sells. */

/** OpenAI's chat completions, for API keys. */
export const CHAT_PATH = '/v1/chat/completions';
/** What they may name. */
export const MODELS_PATH = '/v1/models';
/** Where credits are sold, and what a key has is shown. */
export const CREDITS_PATH = '/v1/credits';
/** What a payer bought. */
export const PURCHASES_PATH = '/v1/purchases';
/** Where payers ask for their money. */
export const REFUNDS_PATH = '/v1/refunds';
/** Where what is left of deposits is given back. */
export const CHANNELS_PATH = '/v1/channels';
/** Where the Model Context Protocol is spoken. */
export const MCP_PATH = '/mcp';
/** Some clients add a slash to every address, for there are servers that want one. */
export const isMcpPath = (path: string): boolean => path === MCP_PATH || path === `${MCP_PATH}/`;
