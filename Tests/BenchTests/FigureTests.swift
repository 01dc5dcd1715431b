import Foundation
import Testing

@testable import heliograph_bench

struct FigureTests {
    private func line(_ figure: Figure) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(figure.line.utf8)) as? [String: Any])
    }

    @Test func `a figure of rounds has the median of their ratios, and how far these are apart`() throws {
        let figure = Figure("bus", [80, 90, 10, 60, 70], unit: "messages/s", reference: "C", [100, 100, 100, 100, 100], bar: 0.6)
        let line = try line(figure)
        #expect(line["ratio"] as? Double == 0.7)
        let spread = try #require(line["spread"] as? [String: Double])
        #expect(spread == ["lowest": 0.1, "lower_quartile": 0.6, "upper_quartile": 0.8, "highest": 0.9, "rounds": 5])
        #expect(figure.ok)
    }

    @Test(arguments: [(0.4, true), (0.6, false)])
    func `a figure with a reference may have a limit for its value as well`(value: Double, isOK: Bool) {
        let figure = Figure("latency", [value], unit: "ms", reference: "C", [1.0], bar: 4, maxValue: 0.5, moreIsBetter: false)
        #expect(figure.ok == isOK)
    }

    @Test func `a line of a figure of rounds can be compared with a baseline`() throws {
        let figure = Figure("bus", [80, 80], unit: "messages/s", reference: "C", [100, 100], bar: 0.8)
        let comparison = try Comparison(of: [figure.line], with: Data("[\(figure.line)]".utf8))
        #expect(comparison.rows.map(\.verdict) == [.same])
        #expect(comparison.rows.map(\.now) == ["0.8 ×"])
    }
}
