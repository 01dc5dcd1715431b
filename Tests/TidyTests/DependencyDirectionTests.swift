import Testing

/// Tests the direction of dependencies. A module may import only modules of lower ranks, even if Package.swift allows more. The
/// ranks are C libraries, concurrency primitives, clients and parsers, imaging and the wire format, pushes, engines and outside services,
/// the schema with the bus, accounts, pictures, topics, the defaults of services, the support of commands, and services with the tools
/// of operators.
@Suite struct DependencyDirectionTests {
    private static let ranks: [[String]] = [
        [
            "CHiredis", "CLibPQ", "CLibCurl", "CLibJPEG", "CJPEG", "CRaster", "CNGHTTP2", "COpenSSL", "CVips", "CFaceNet", "CZlib",
            "CLinux", "CSeccomp",
        ],
        // MobileClient imports nothing but Foundation, and only tools import it.
        ["AsyncPrimitives", "BuildVersion", "MobileClient"],
        ["RedisClient", "PostgresClient", "HTTPClient", "HeliographCrypto", "Multipart", "JSON", "ImageProbe", "Sandbox"],
        ["Imaging", "WireFormat"],
        ["Push"],
        ["FCM", "Mail", "BlobStore", "FaceEngine", "ImageGenerators", "HeliographTracing"],
        ["Schema", "EventBus"],
        ["Accounts"],
        ["Pictures"],
        ["Topics"],
        ["ServiceDefaults"],
        ["CommandLineSupport"],
        ["IdentityAPI", "FaceMatchingWorker", "ImageWorker", "TokenRegistry", "Notifier", "HeliographCtl", "HeliographLoad"],
    ]
    private static let rank = Dictionary(
        uniqueKeysWithValues: ranks.enumerated().flatMap { rank, names in names.map { ($0, rank) } })

    private static func module(of file: SourceFile) -> String {
        let folder = file.isExecutable ? String(file.path.split(separator: "/")[2]) : file.owner
        return ["Crypto", "Tracing"].contains(folder) ? "Heliograph\(folder)" : folder
    }

    @Test(arguments: Checkout.swift.filter(\.isProduction))
    func `a module imports only modules of lower ranks`(file: SourceFile) {
        let module = Self.module(of: file)
        if module == "main" { return }
        guard let own = Self.rank[module] else {
            Issue.record("\(module) has no rank: add it to this test")
            return
        }
        for name in file.imports {
            guard let other = Self.rank[name], name != module else { continue }
            #expect(other < own, "\(file.path) imports \(name)")
        }
    }

    @Test(arguments: Checkout.swift.filter(\.isExecutable))
    func `a service does not import another service`(file: SourceFile) {
        let services = Set(Self.ranks.last!)
        let own = Self.module(of: file)
        guard own != "main" else { return }
        #expect(file.imports.allSatisfy { !services.contains($0) || $0 == own }, "\(file.path)")
    }

    @Test(arguments: Checkout.swift.filter(\.isProduction))
    func `no production code imports a test tool`(file: SourceFile) {
        #expect(Set(file.imports).isDisjoint(with: ["TestSupport", "FCMEmulator", "GeminiEmulator", "Testing", "XCTest"]), "\(file.path)")
    }

    @Test func `the wire format needs nothing but Foundation and the parser of JSON`() {
        let system: Set = ["FoundationEssentials", "Foundation", "Synchronization", "Glibc", "Musl", "Darwin"]
        for file in Checkout.swift where file.path.hasPrefix("Shared/WireFormat/") {
            #expect(Set(file.imports).isSubset(of: system.union(["JSON"])), "\(file.path)")
        }
    }

    @Test func `no service links face models or libvips but the workers, and heliographctl for calibrations and previews`() {
        let users = ["-worker/", "HeliographCtl/Faces/", "HeliographCtl/Templates/"]
        for file in Checkout.swift where file.isExecutable && !users.contains(where: file.path.contains) {
            #expect(Set(file.imports).isDisjoint(with: ["FaceEngine", "Imaging", "CFaceNet", "CVips"]), "\(file.path)")
        }
    }
}
