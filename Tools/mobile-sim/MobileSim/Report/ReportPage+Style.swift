extension ReportPage {
    static let style = """
        :root{--paper:#faf8f3;--card:#fff;--ink:#181b24;--soft:#666d80;--line:#e3e0d8;--push:#e8660c;--poll:#2c5fb8;--launch:#7a4fb0;\
        --good:#1f7a46;--bad:#c22f2f}
        @media (prefers-color-scheme:dark){:root{--paper:#14161c;--card:#1c1f28;--ink:#eceef4;--soft:#98a0b4;--line:#2e3340;--push:#ff8f3f;\
        --poll:#78a6f5;--launch:#b893ea;--good:#5fc98c;--bad:#ff7b73}}
        *{box-sizing:border-box}
        body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
        main{max-width:820px;margin:0 auto;padding:48px 20px 64px}h1{font-size:2rem;line-height:1.2;margin:0 0 8px;letter-spacing:-.02em}
        h2{font-size:1.1rem;margin:0 0 4px}.eyebrow{color:var(--push);font-weight:600;margin:0 0 6px;font-size:.85rem}
        .verdict{font-weight:600;margin:0 0 20px}.good{color:var(--good)}.bad{color:var(--bad)}
        .sub,.none,footer{color:var(--soft);font-size:.9rem}
        section,.tiles>div,details{background:var(--card);border:1px solid var(--line);border-radius:14px}
        section{padding:20px 22px;margin:18px 0}.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px}
        .tiles>div{padding:14px 16px}.tiles b{display:block;font-size:1.5rem;line-height:1.2;font-variant-numeric:tabular-nums}
        .tiles span{color:var(--soft);font-size:.85rem}svg{display:block;width:100%;height:auto;margin-top:8px}
        svg text{fill:var(--soft);font-size:12px;font-variant-numeric:tabular-nums}.grid{stroke:var(--line);stroke-width:1}
        .curve{fill:none;stroke-width:2.5;stroke-linejoin:round}.curve.push{stroke:var(--push)}.curve.poll{stroke:var(--poll)}
        .curve.launch{stroke:var(--launch)}rect.push{fill:var(--push)}rect.poll{fill:var(--poll)}rect.launch{fill:var(--launch)}
        .legend{display:flex;flex-wrap:wrap;gap:4px 18px;margin:6px 0 0;font-size:.85rem;color:var(--soft)}
        .legend span::before{content:"";display:inline-block;width:12px;height:4px;border-radius:2px;margin-right:7px;vertical-align:middle}
        .legend .push::before{background:var(--push)}.legend .poll::before{background:var(--poll)}
        .legend .launch::before{background:var(--launch)}
        .rules{list-style:none;margin:8px 0 0;padding:0}.rules li{padding:5px 0;border-top:1px solid var(--line);color:var(--ink)}
        .rules b{display:inline-block;min-width:58px}.rules .good b{color:var(--good)}.rules .bad b{color:var(--bad)}
        details{padding:12px 18px;margin:10px 0}summary{cursor:pointer;font-weight:600}pre{overflow:auto;font-size:12px;line-height:1.45}
        """
}
