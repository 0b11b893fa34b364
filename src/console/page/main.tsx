/** The operator's console, bundled by `npm run codegen` into `generated/console/`. */
import './styles/console.css';
import { render } from 'preact';
import { Console } from './console.tsx';

render(<Console />, document.body);
