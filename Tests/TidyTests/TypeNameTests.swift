import Testing

@Suite struct TypeNameTests {
    /// The types that a file declares outside of other types, with their protocols.
    private static func types(in file: SourceFile) -> [(name: Substring, isPublic: Bool)] {
        let pattern = /(?:(?:[a-z]+|@\w+(?:\([^)]*\))?) )*(?:struct|class|enum|actor|protocol|typealias) (\w+)/
        return file.lines.compactMap { line in
            // Declarations within a type are indented.
            guard let first = line.first, first.isLetter || first == "@", let match = line.prefixMatch(of: pattern) else { return nil }
            return (match.output.1, line.hasPrefix("public "))
        }
    }

    /// The names that several of the files declare, with the files.
    private static func repeated(in files: [SourceFile]) -> [Substring: [String]] {
        Dictionary(grouping: files.flatMap { file in types(in: file).map { ($0.name, file.path) } }, by: \.0)
            .mapValues { $0.map(\.1) }.filter { $0.value.count > 1 }
    }

    @Test func `no name of a type of services, shared modules and tools is declared twice`() {
        // The files of a tutorial are steps of an app: each step has the types of the one before.
        let files = Checkout.swift.filter { !$0.path.hasPrefix("Tests/") && !$0.path.contains(".docc/") }
        #expect(Self.repeated(in: files).isEmpty)
    }

    /// A file that imports a module could not say which of the two it means. The main type of a module may have its name.
    @Test func `no type has the name of another module`() throws {
        let package = try #require(Checkout.file(at: "Package.swift")).text
        let declaration = /\.(?:shared|serviceLibrary|nativeLibrary|target)\(\s*(?:name: )?"(\w+)"/
        let modules = Set(package.matches(of: declaration).map { $0.output.1 })
        #expect(modules.isSuperset(of: ["JSON", "CFaceNet", "IdentityAPI", "HeliographLoad"]))
        for file in Checkout.swift where !file.path.hasPrefix("Tests/") {
            for (name, _) in Self.types(in: file) where modules.contains(name) {
                #expect(file.path.contains("/\(name)/"), "\(file.path) declares \(name)")
            }
        }
    }

    @Test func `no name of a type is declared twice in a module of tests`() {
        let modules = Dictionary(grouping: Checkout.swift.filter { $0.path.hasPrefix("Tests/") }, by: \.owner)
        for files in modules.values { #expect(Self.repeated(in: files).isEmpty) }
    }

    /// A ``ConfigurationError`` and a ``KeyManagementError`` have no code, because they end the process: nothing handles them.
    @Test func `the error of a shared module has a code, one sentence for the log and a description of both`() {
        let files = Checkout.swift.filter { file in
            file.path.hasPrefix("Shared/")
                && Self.types(in: file).contains {
                    $0.isPublic && $0.name.hasSuffix("Error") && !["ConfigurationError", "KeyManagementError"].contains($0.name)
                }
        }
        #expect(files.count > 10)
        for file in files {
            for member in ["public let code: Code", "public let message: String", "public var description: String"] {
                #expect(file.text.contains(member), "\(file.path) has no \(member)")
            }
        }
    }
}
