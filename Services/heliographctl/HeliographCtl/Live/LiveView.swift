/// Something that is looked at again and again: on a terminal in place, elsewhere as one text after the other.
struct LiveView {
    let interval: Duration
    /// Ends by itself after so many looks; nil goes on until somebody stops it.
    let count: Int?
    /// Whether it takes the whole screen of a terminal.
    let isDrawn: Bool

    /// Looks every `interval` and shows what `render` makes of what was seen, for a screen of a size if there is one.
    func run<Sample>(
        _ look: () async throws -> Sample, render: (Sample, TerminalSize?) throws -> [String]
    ) async throws {
        if isDrawn {
            try await draw(look, render: render)
        } else {
            try await print(look, render: render)
        }
    }

    private func print<Sample>(
        _ look: () async throws -> Sample, render: (Sample, TerminalSize?) throws -> [String]
    ) async throws {
        var next = ContinuousClock.now
        var looks = 0
        while true {
            try render(try await look(), nil).forEach(Console.current.result)
            looks += 1
            if let count, looks >= count { return }
            next = max(next + interval, .now)
            try await Task.sleep(until: next)
        }
    }

    private func draw<Sample>(
        _ look: () async throws -> Sample, render: (Sample, TerminalSize?) throws -> [String]
    ) async throws {
        // The first look comes before the screen is taken, so that its failure is told in the ordinary way.
        var sample = try await look()
        var looks = 1
        let screen = try await Screen.take(interval: interval)
        defer { screen.leave() }
        screen.draw(try render(sample, screen.size))
        for await event in screen.events {
            switch event {
            case .tick:
                if let count, looks >= count { return }
                sample = try await look()
                looks += 1
            case .resized: break
            case .stopped, .key(UInt8(ascii: "q")), .key(UInt8(ascii: "Q")), .key(Screen.controlC): return
            case .key: continue
            }
            screen.draw(try render(sample, screen.size))
        }
    }
}
