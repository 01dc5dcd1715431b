import Testing

@Suite struct StyleTests {
    @Test func `the checkout was found`() {
        #expect(Checkout.swift.count > 100)
    }

    @Test(arguments: Checkout.code)
    func `no file has more than 500 lines`(file: SourceFile) {
        #expect(file.lines.count <= 501)
    }

    @Test(arguments: Checkout.swift)
    func `no line has more than 140 characters`(file: SourceFile) {
        for (number, line) in file.lines.enumerated() {
            #expect(line.count <= 140, "\(file.path):\(number + 1)")
        }
    }

    @Test(arguments: Checkout.code)
    func `the code has no marks of unfinished work`(file: SourceFile) {
        // The words are concatenated, so that this file does not contain them.
        let marks = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]
        for (number, line) in file.lines.enumerated() {
            let words = line.split { !$0.isLetter }
            #expect(!words.contains { marks.contains(String($0)) }, "\(file.path):\(number + 1)")
        }
    }

    @Test(arguments: Checkout.swift.filter(\.isProduction))
    func `unsafe code has a comment beside it`(file: SourceFile) {
        let unsafe = ["@unchecked Sendable", "nonisolated(unsafe)", "try!", " as! "]
        for (number, line) in file.lines.enumerated() {
            let code = line.drop { $0 == " " }
            guard !code.hasPrefix("//"), unsafe.contains(where: { line.contains($0) }) else { continue }
            let around = file.lines[max(0, number - 6)...number]
            #expect(around.contains { $0.contains("//") }, "\(file.path):\(number + 1)")
        }
    }

    /// Foundation takes signs and blanks for digits, so two texts could name one row: `UUID(wireString:)` does not.
    @Test(arguments: Checkout.swift.filter(\.isProduction))
    func `ids are parsed strictly`(file: SourceFile) {
        for (number, line) in file.lines.enumerated() {
            #expect(!line.contains("uuid" + "String:"), "\(file.path):\(number + 1)")
        }
    }

    @Test(arguments: Checkout.swift.filter { $0.isExecutable && $0.path.contains("/main/") })
    func `the file of an executable is short`(file: SourceFile) {
        #expect(file.lines.count <= 41)
    }
}
