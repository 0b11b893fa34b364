import { CatalogueErrors } from '../catalogue/yaml/diagnostic.ts';
import { ConfigProblem, type Variables } from '../environment.ts';
import { codeOf, isWithoutRoom } from '../error-code.ts';
import { StoreProblem } from '../store/problem.ts';
import { NoWorkers } from '../workers/crew.ts';

/** What kept the gateway from starting, for whoever set it up: one line where the fault is theirs, else the stack. */
export function startProblem(error: unknown, variables: Variables): string {
  const { TURNPIKE_MODE: mode } = variables;
  if (!(error instanceof Error)) return String(error);
  if (
    error instanceof ConfigProblem ||
    error instanceof CatalogueErrors ||
    error instanceof StoreProblem ||
    error instanceof NoWorkers
  ) {
    return error.message;
  }
  if (isWithoutRoom(error)) {
    const where = variables.TURNPIKE_DATA ?? 'the data directory';
    return `There is no room left on the disk of ${where} (${codeOf(error)}): make room there, or set TURNPIKE_DATA to a directory on another`;
  }
  const { name, port } = portOf(error, variables);
  switch ('code' in error && error.code) {
    case 'EADDRINUSE':
      return `The port ${port} is taken: stop what listens there, or set ${name} to another one`;
    case 'EACCES':
      if ('syscall' in error && error.syscall === 'listen') {
        return `The port ${port} may not be listened on: set ${name} to one above 1023`;
      }
      break;
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'ENOTFOUND':
    case 'EAI_AGAIN': {
      const fault = hostFault(error, variables);
      if (fault !== undefined) return fault;
      break;
    }
    case 'ERR_MODULE_NOT_FOUND':
    case 'MODULE_NOT_FOUND':
      if (mode !== 'live') {
        return 'The sandbox needs the development packages: run npm install, or set TURNPIKE_MODE to live';
      }
  }
  return error.stack ?? error.message;
}

/** The variable of the port that could not be listened on: there are two of them. */
function portOf(error: Error, { PORT, TURNPIKE_ADMIN_PORT: admin }: Variables): { name: string; port: string } {
  const isAdmin = 'port' in error && admin !== undefined && error.port === Number(admin);
  return isAdmin ? { name: 'TURNPIKE_ADMIN_PORT', port: admin } : { name: 'PORT', port: PORT ?? '4020' };
}

/** Of the two hosts, the one that could not be listened on; undefined where it was another that was not found. */
function hostFault(error: Error, { HOST, TURNPIKE_ADMIN_HOST: admin }: Variables): string | undefined {
  const { address, hostname = address } = error as { address?: string; hostname?: string };
  if (hostname === undefined) return undefined;
  const isNone = (name: string) => `${name} is ${hostname}, which is no address of this machine: set it to one`;
  if (hostname === HOST?.trim()) return `${isNone('HOST')}, or to 0.0.0.0 for all`;
  if (hostname === admin?.trim().toLowerCase()) return `${isNone('TURNPIKE_ADMIN_HOST')}, or leave it out`;
  return undefined;
}
