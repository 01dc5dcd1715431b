internal import Foundation

/// An axis of a drawing: its range, its scale and its ticks.
struct LoadAxis {
    /// A value with a line and a label.
    struct Tick: Equatable {
        let value: Double
        let label: String
    }

    let range: ClosedRange<Double>
    let isLogarithmic: Bool
    let ticks: [Tick]

    /// The position of a value, 0 to 1; values beyond the range are clamped.
    func position(of value: Double) -> Double {
        let (low, high, value) = (scaled(range.lowerBound), scaled(range.upperBound), scaled(value))
        return high > low ? min(max((value - low) / (high - low), 0), 1) : 0
    }

    private func scaled(_ value: Double) -> Double { isLogarithmic ? log10(max(value, 1e-6)) : value }

    /// From 0 to the largest value, with a handful of round steps.
    static func linear(upTo largest: Double, label: (Double) -> String) -> LoadAxis {
        let step = round(max(largest, 1e-9) / 4)
        let top = max((largest / step).rounded(.up), 1) * step
        let ticks = stride(from: 0, through: top + step / 2, by: step).map { Tick(value: $0, label: label($0)) }
        return LoadAxis(range: 0...top, isLogarithmic: false, ticks: ticks)
    }

    /// Times in seconds, with lines at 1, 2 and 5 of each power of ten between the smallest and the largest.
    static func logarithmic(seconds smallest: Double, _ largest: Double) -> LoadAxis {
        let smallest = max(min(smallest, largest), 1e-4)
        let steps = (-4...6).flatMap { power in [1.0, 2, 5].map { $0 * pow(10, Double(power)) } }
        let low = steps.last { $0 <= smallest } ?? steps[0]
        let high = steps.first { $0 >= max(largest, low * 2) } ?? steps[steps.count - 1]
        let shown = steps.filter { $0 >= low * 0.999 && $0 <= high * 1.001 }
        // More than two powers of ten would leave no room between the labels.
        let ticks = shown.filter { shown.count <= 10 || abs(log10($0).rounded() - log10($0)) < 1e-9 }
        return LoadAxis(
            range: low...high, isLogarithmic: true, ticks: ticks.map { Tick(value: $0, label: HumanUnits.age(.seconds($0))) })
    }

    /// Times since the start, in seconds.
    static func time(upTo seconds: Double) -> LoadAxis {
        let steps = [1.0, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400, 259_200]
        let step = steps.first { $0 * 10 >= seconds } ?? 864_000
        let ticks = stride(from: 0, through: seconds, by: step).map {
            Tick(value: $0, label: $0 == 0 ? "0" : HumanUnits.age(.seconds($0)))
        }
        return LoadAxis(range: 0...max(seconds, 1), isLogarithmic: false, ticks: ticks)
    }

    /// 1, 2 or 5 of a power of ten, not below the value.
    private static func round(_ value: Double) -> Double {
        let power = pow(10, log10(value).rounded(.down))
        return ([1, 2, 5].first { $0 * power >= value * 0.999 } ?? 10) * power
    }
}
