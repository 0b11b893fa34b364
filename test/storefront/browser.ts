/** A browser over a gateway in its sandbox. */
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Test } from 'tap';
import type { Gateway } from '../gateway.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);

/** Why tests cannot run here; false where they can. */
export const noBrowser: string | false = CHROMIUM === undefined && 'no browser here: apt-get install chromium';

let browser: Promise<Browser> | undefined;

/** One browser for all tests of a file. */
const startBrowser = (): Promise<Browser> => {
  browser ??= chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  return browser;
};

export const stopBrowser = async (): Promise<void> => (await browser)?.close();

// What has to fail in a test is no fault of the page.
const isRefusal = (text: string): boolean => /^Failed to load resource: .*(40[0-9]|50[0-9]|ERR_)/.test(text);

export interface OpenPage {
  readonly page: Page;
  /** What the browser complained of: faults of scripts, and what the content security policy kept from happening. */
  readonly complaints: readonly string[];
}

/** A page that has not been anywhere yet. `scripts`: run before the page's own, past its policy. */
export async function openPage(t: Test, options: BrowserContextOptions = {}): Promise<OpenPage> {
  const context = await (await startBrowser()).newContext({ reducedMotion: 'reduce', ...options });
  t.teardown(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const complaints: string[] = [];
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (message) => {
    const text = message.text();
    if (['error', 'warning'].includes(message.type()) && !isRefusal(text)) complaints.push(text);
  });
  await page.exposeFunction('complain', (text: string) => complaints.push(text));
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', (event) => complain(event.violatedDirective + ' ' + event.blockedURI))",
  );
  return { page, complaints };
}

/** The page on which what is sold at a path is bought, with its form filled in. */
export const purchaseOf = (gateway: Pick<Gateway, 'url'>, path: string, fields: Record<string, string>): string =>
  `${gateway.url}/endpoints${path}?${new URLSearchParams(fields)}`;
