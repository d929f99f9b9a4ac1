/** Options of the weak database. */
export interface ServerOptions {
  /** A SQL name ('read committed') or an id ('si'); without it, the level that each transaction asks for. */
  isolation?: string;
  /** 'commit' (default): a transaction that begins after a commit sees it; 'none': replicas that lag. */
  recency?: 'commit' | 'none';
  /** The longest that a statement is held so that transactions overlap, in milliseconds. */
  hold?: number;
  /** Files of SQL that fill every new database. */
  load?: string[];
  /** The name of the database in `url`. */
  database?: string;
}

export interface Coverage {
  text: string;
  overlapping: number;
  conflicting: number;
  in_both_orders: number;
}

export class Server {
  static start(options?: ServerOptions): Promise<Server>;
  readonly url: string;
  readonly host: string;
  readonly port: number;
  reset(seed: number): Promise<void>;
  explain(): Promise<string>;
  coverage(): Promise<Coverage>;
  close(): Promise<void>;
}

export interface SkewOptions<T> extends ServerOptions {
  /** How often the body runs; 100 unless told otherwise. */
  runs?: number;
  /** The first seed. */
  seed?: number;
  /** Makes what every run begins with; what it returns is `setup` in the body. */
  setup?: (context: { url: string; server: Server }) => Promise<T> | T;
  teardown?: (context: { url: string; server: Server; setup: T }) => Promise<void> | void;
  /** Accept that no two transactions overlapped. */
  allowSerial?: boolean;
}

/** A test function that repeats `body` on a weak database, and fails with the explanation. */
export function skew<T>(
  options: SkewOptions<T>,
  body: (context: { url: string; server: Server; seed: number; setup: T }) => Promise<void> | void,
): () => Promise<void>;

/** The path of the binary. */
export function binary(): string;
