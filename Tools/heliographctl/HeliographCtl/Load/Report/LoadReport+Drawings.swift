/// The drawings of the report.
extension LoadReport {
    /// The timeline in slices wide enough to hold actions, because an empty slice is a gap in a line. Actions that ended after the end
    /// of the load are left out.
    private var timeline: LoadTimeline {
        snapshot.timeline.until(measured).inSlices(atMost: min(max(asked / (8 * max(1, kinds.count)), 10), 120))
    }

    /// Median and 99th percentile of the latencies, by scheduled start.
    var latencyOverTime: HTML {
        let shown = [0.5, 0.99]
        let timeline = timeline
        let (width, slices) = (timeline.width.seconds, timeline.slices)
        let lines = kinds.flatMap { kind in
            shown.map { share in
                LoadDrawing.Line(
                    name: "\(kind.rawValue) p\(Int(share * 100))", colour: kind.rawValue, isDashed: share == 0.5,
                    points: slices.enumerated().map { index, slice in
                        (x: (Double(index) + 0.5) * width, y: slice.latencies[kind]?.quantile(share)?.seconds)
                    })
            }
        }
        return LoadDrawing(title: "Latency over time", x: time, y: latencyAxis(lines), lines: lines).html
    }

    /// Latency by percentile; each step to the right adds a nine.
    var percentileCurve: HTML {
        let shares = [0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999]
        // The axis is logarithmic in the share of slower actions: a half, a tenth, a hundredth.
        func place(_ share: Double) -> Double { 1 / (1 - share) }
        let largest = kinds.map { latencies($0, $0.end).count }.max() ?? 0
        let shown = shares.filter { largest == 0 ? $0 <= 0.9 : place($0) <= Double(max(largest, 10)) }
        let lines = kinds.flatMap { kind in
            stages(of: kind).filter { $0 != .answer || kind.end == .answer }.map { stage in
                let latencies = latencies(kind, stage)
                return LoadDrawing.Line(
                    name: "\(kind.rawValue) until \(stage.rawValue)", colour: kind.rawValue, isDashed: stage == .push,
                    points: shown.filter { place($0) <= Double(max(latencies.count, 1)) }.map { share in
                        (x: place(share), y: latencies.quantile(share)?.seconds)
                    })
            }
        }
        let ticks = shown.filter { $0 != 0.25 && $0 != 0.75 && $0 != 0.995 && $0 != 0.95 || shown.count < 7 }.map {
            LoadAxis.Tick(value: place($0), label: HumanUnits.percent($0).replacing(".0", with: ""))
        }
        let x = LoadAxis(range: 1...place(shown.last ?? 0.9), isLogarithmic: true, ticks: ticks)
        return LoadDrawing(title: "Latency by percentile", x: x, y: latencyAxis(lines), lines: lines).html
    }

    /// Actions scheduled, succeeded and failed in each second.
    var throughput: HTML {
        let lines = throughputLines
        let largest = lines.flatMap { $0.points.compactMap(\.y) }.max() ?? 1
        return LoadDrawing(
            title: "Throughput over time", x: time, y: .linear(upTo: largest) { HumanUnits.rate($0) + "/s" }, lines: lines
        ).html
    }

    /// The lines without the last slice if it is incomplete: divided by its full width, it would show a fall that did not happen.
    var throughputLines: [LoadDrawing.Line] {
        let timeline = timeline
        let width = timeline.width.seconds
        let slices = timeline.slices.prefix(Int(measured / timeline.width))
        func line(_ name: String, _ colour: String, isFilled: Bool, _ count: (LoadTimeline.Slice) -> Int) -> LoadDrawing.Line {
            let points = slices.enumerated().map { index, slice in
                (x: (Double(index) + 0.5) * width, y: Double?.some(Double(count(slice)) / width))
            }
            return LoadDrawing.Line(name: name, colour: colour, isDashed: false, isFilled: isFilled, points: points)
        }
        return [
            line("succeeded", "good", isFilled: true, \.succeeded), line("asked", "plain", isFilled: false, \.asked),
            line("errors", "bad", isFilled: false, \.failed),
        ]
    }

    private var time: LoadAxis {
        .time(upTo: max(measured.seconds, Double(timeline.slices.count) * timeline.width.seconds))
    }

    private func latencyAxis(_ lines: [LoadDrawing.Line]) -> LoadAxis {
        let values = lines.flatMap { $0.points.compactMap(\.y) }
        return .logarithmic(seconds: values.min() ?? 0.01, values.max() ?? 1)
    }
}
