/// The explanation and the style sheet of the HTML report.
extension LoadReport {
    static let explanation: HTML = """
        <h2>How to read it</h2>
        <p>Each action starts at a scheduled time, whether or not earlier ones have finished, as people do, and latencies run from that
        time: a service that falls behind shows it, and gets no less load for it. <em>answer</em> is the first HTTP response;
        <em>done</em> is a decided sign-in or sign-up, or a finished picture in the app; <em>push</em> is its arrival at the phone.
        A latency counts for each stage that was reached; latencies are never reported shorter than they were, and less than 1 % longer
        (6 % in the drawing over time). Actions that ended after the end of the load count, but are not drawn over time. Errors are counted
        separately: <em>failed</em>; <em>refused</em>, where a limit of the service refused a request (429), and the account paused for as
        long as the service asked; <em>not started</em>, where no account was free or the limit of concurrent actions was reached. If many
        actions started late, the machine that generates the load is too slow, or --concurrency too low.</p>
        """

    static let style: HTML = """
        <style>
        :root { color-scheme: light dark; --ink: #1c2030; --soft: #667085; --edge: #d9dde7; --paper: #fff; --good: #15803d; --bad: #c81e1e;
          --sign-in: #2563eb; --sign-up: #9333ea; --image: #ea580c; --upload: #0d9488; }
        @media (prefers-color-scheme: dark) { :root { --ink: #e7eaf3; --soft: #98a2b8; --edge: #343b4f; --paper: #141824; --good: #4ade80;
          --bad: #f87171; --sign-in: #60a5fa; --sign-up: #c084fc; --image: #fb923c; --upload: #2dd4bf; } }
        body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 900px; margin: 2rem auto;
          padding: 0 1rem; }
        h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
        .verdict { font-weight: 600; margin: .25rem 0 1rem; } .good { color: var(--good); } .bad { color: var(--bad); }
        .tiles { display: flex; flex-wrap: wrap; gap: .75rem; margin: 0; }
        .tiles div { border: 1px solid var(--edge); border-radius: 8px; padding: .5rem .9rem; min-width: 6.5rem; }
        dt { color: var(--soft); font-size: .8rem; } dd { margin: 0; font-size: 1.35rem; font-variant-numeric: tabular-nums; }
        table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
        th { text-align: left; font-weight: 500; color: var(--soft); font-size: .85rem; }
        th, td { padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--edge); vertical-align: top; }
        figure { margin: 0 0 1rem; } svg { width: 100%; height: auto; display: block; } svg text { font-size: 12px; fill: var(--soft); }
        path { fill: none; } .grid { stroke: var(--edge); }
        .line { stroke: currentColor; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
        .line.dot { stroke-width: 5; } .line.dashed { stroke-dasharray: 2 5; } .area { fill: currentColor; opacity: .15; }
        .sign-in { color: var(--sign-in); } .sign-up { color: var(--sign-up); } .image { color: var(--image); }
        .upload { color: var(--upload); } .plain { color: var(--soft); }
        figcaption { display: flex; flex-wrap: wrap; gap: 1.25rem; font-size: .85rem; padding-left: 62px; }
        .key::before { content: ""; display: inline-block; width: 22px; margin-right: 6px; vertical-align: middle;
          border-top: 3px solid currentColor; }
        .key.dashed::before { border-top-style: dotted; }
        .bar { background: var(--bad); height: .8rem; border-radius: 2px; margin-top: .35rem; }
        </style>
        """
}
