/** The page, as it was built: three files, and no other. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import express, { type Response, type Router } from 'express';
import { ConsoleProblem } from './problem.ts';

/** Beside the sources, or beside what was built of them. */
const DIRECTORY = join(import.meta.dirname, '..', '..', 'generated', 'console');

const FILES: Readonly<Record<string, { readonly name: string; readonly type: string }>> = {
  '/': { name: 'index.html', type: 'text/html; charset=utf-8' },
  '/console.js': { name: 'console.js', type: 'text/javascript; charset=utf-8' },
  '/console.css': { name: 'console.css', type: 'text/css; charset=utf-8' },
};

async function send(response: Response, { name, type }: { name: string; type: string }): Promise<void> {
  const body = await readFile(join(DIRECTORY, name)).catch(() => undefined);
  if (body === undefined) throw new ConsoleProblem(404, "the console's page was not built: run npm run codegen");
  response.type(type).send(body);
}

export function pageFiles(): Router {
  const router = express.Router();
  for (const [path, file] of Object.entries(FILES)) router.get(path, (_request, response) => send(response, file));
  return router;
}
