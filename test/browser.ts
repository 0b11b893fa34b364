/** A real browser for tests, and what axe finds in what it shows. */
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Test } from 'tap';

/** The first that is there. Measured: a shell, which draws no windows of its own, takes a third of the CPU time. */
const CHROMIUM = ['chromium-headless-shell', 'chromium', 'google-chrome']
  .map((name) => `/usr/bin/${name}`)
  .find((path) => existsSync(path));

/** Why tests cannot run here; false where they can. */
export const noBrowser: string | false =
  CHROMIUM === undefined && 'no browser here: apt-get install chromium-headless-shell';

/** Before something is taken for not coming any more, in milliseconds. */
const PATIENCE_MS = 60_000;

let browser: Promise<Browser> | undefined;

/** One browser for all tests of a file. */
const startBrowser = (): Promise<Browser> => {
  browser ??= chromium.launch({
    executablePath: CHROMIUM ?? '',
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
    timeout: PATIENCE_MS,
  });
  return browser;
};

export async function stopBrowser(): Promise<void> {
  const running = browser;
  browser = undefined;
  await (await running)?.close();
}

// What has to be refused in a test, or is asked before anybody is signed in or has paid, is no fault of the page.
const isRefusal = (text: string): boolean => /^Failed to load resource: .*(40[01249]|ERR_)/.test(text);

export interface OpenPage {
  readonly page: Page;
  /** What the browser complained of: faults of scripts, and what the content security policy kept from happening. */
  readonly complaints: readonly string[];
}

/** An empty page of its own, closed with the test. */
export async function openPage(t: Test, options: BrowserContextOptions = {}): Promise<OpenPage> {
  const context = await (await startBrowser()).newContext({ reducedMotion: 'reduce', ...options });
  t.teardown(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
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

/**
 * Waits, a minute at most, until an expression is true of the page. In place of Playwright's `waitForFunction`, whose second
 * look is the page's own script and so forbidden by a policy without `unsafe-eval`.
 */
export async function comesTrue(page: Page, expression: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await page.evaluate<boolean>(`Boolean(${expression})`))) {
    if (performance.now() > deadline) throw new Error(`not true after a minute: ${expression}`);
    await delay(20);
  }
}

/** In which pages are looked at. Axe's script comes past the page's policy, as a browser's extension does. */
export const looks = [
  { name: 'in light', colorScheme: 'light', viewport: { width: 1280, height: 800 }, bypassCSP: true },
  { name: 'in dark', colorScheme: 'dark', viewport: { width: 1280, height: 800 }, bypassCSP: true },
  { name: 'at 390 pixels', colorScheme: 'light', viewport: { width: 390, height: 800 }, bypassCSP: true },
  { name: 'at 390 pixels in dark', colorScheme: 'dark', viewport: { width: 390, height: 800 }, bypassCSP: true },
] as const;

/** What axe finds in what is shown, and whether it is wider than the screen. */
export async function lookedAt(page: Page): Promise<{ findings: string[]; sideways: number }> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source);
  const found = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>('axe.run()');
  return {
    findings: found.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`)),
    sideways: await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    ),
  };
}
