internal import CommandLineSupport

/// A view that is refreshed at an interval: in place on a terminal, elsewhere as one text after the other.
struct LiveView {
    let interval: Duration
    /// The number of samples after which the view ends; nil runs until it is stopped.
    let count: Int?
    /// Whether the view takes the whole screen of a terminal.
    let isDrawn: Bool

    /// Takes a sample every `interval` and shows the lines that `render` makes of it, fitted to the screen if there is a screen.
    func run<Sample>(
        _ sample: () async throws -> Sample, render: (Sample, TerminalSize?) throws -> [PrintableText]
    ) async throws {
        if isDrawn {
            try await draw(sample, render: render)
        } else {
            try await print(sample, render: render)
        }
    }

    private func print<Sample>(
        _ takeSample: () async throws -> Sample, render: (Sample, TerminalSize?) throws -> [PrintableText]
    ) async throws {
        var next = ContinuousClock.now
        var samples = 0
        while true {
            try render(try await takeSample(), nil).forEach(Console.current.result)
            samples += 1
            if let count, samples >= count { return }
            next = max(next + interval, .now)
            try await Task.sleep(until: next)
        }
    }

    private func draw<Sample>(
        _ takeSample: () async throws -> Sample, render: (Sample, TerminalSize?) throws -> [PrintableText]
    ) async throws {
        // The first sample is taken before the screen, so that its failure is reported in the ordinary way.
        var sample = try await takeSample()
        var samples = 1
        let screen = try await Screen.take(interval: interval)
        defer { screen.leave() }
        screen.draw(try render(sample, screen.size))
        for await event in screen.events {
            switch event {
            case .tick:
                if let count, samples >= count { return }
                sample = try await takeSample()
                samples += 1
            case .resized: break
            case .stopped, .key(UInt8(ascii: "q")), .key(UInt8(ascii: "Q")), .key(Screen.controlC): return
            case .key: continue
            }
            screen.draw(try render(sample, screen.size))
        }
    }
}
