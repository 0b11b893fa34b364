/**
 * Loaded before tap's own watch of a test, which would ask a thread of Node's about every module that is loaded by the
 * test and by whatever it starts, to tell later which files it covers. Nobody asks that here. Measured: half a second of
 * CPU for each process.
 */
import module from 'node:module';

const { register } = module;
module.register = (specifier, ...others) => {
  if (!String(specifier).includes('/@tapjs/processinfo/')) return register(specifier, ...others);
};
// Nor is anything that the test starts to be watched.
process.env.__TAPJS_PROCESSINFO_TESTING_NO_REGISTER__ = String(process.pid);
delete process.env.NODE_OPTIONS;
