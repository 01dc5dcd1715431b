import Testing

@testable import Notifier

@Suite struct RunsTests {
    @Test(
        "runs are the longest ranges of adjacent elements that belong together",
        arguments: [
            ([], []), ([7], [0..<1]), ([1, 2], [0..<1, 1..<2]), ([1, 1, 2, 2, 2, 1], [0..<2, 2..<5, 5..<6]),
        ] as [([Int], [Range<Int>])])
    func runs(elements: [Int], expected: [Range<Int>]) {
        #expect(elements.runs(where: ==) == expected)
    }
}
