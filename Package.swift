// swift-tools-version: 6.2
import PackageDescription

// One place for what every target of the package is compiled with. Warnings are errors: a warning nobody
// fixes is a warning nobody reads.
let sharedSettings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "heliograph",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "identity-api", targets: ["identity-api"]),
        .executable(name: "face-matching-worker", targets: ["face-matching-worker"]),
        .executable(name: "image-worker", targets: ["image-worker"]),
        .executable(name: "image-decoder", targets: ["image-decoder"]),
        .executable(name: "token-registry", targets: ["token-registry"]),
        .executable(name: "notifier", targets: ["notifier"]),
        .executable(name: "heliographctl", targets: ["heliographctl"]),
        .executable(name: "heliograph-load", targets: ["heliograph-load"]),
        .executable(name: "mobile-sim", targets: ["mobile-sim"]),
        .executable(name: "fcm-emulator", targets: ["fcm-emulator"]),
        .executable(name: "gemini-emulator", targets: ["gemini-emulator"]),
        .executable(name: "heliograph-bench", targets: ["heliograph-bench"]),
        .library(name: "WireFormat", targets: ["WireFormat"]),
        // An app adds Shared/MobileClient by its path: this package would bring along what the services need (ADR 0028).
        .library(name: "MobileClient", targets: ["MobileClient"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // MARK: The system's native libraries
        .nativeLibrary("CHiredis", pkgConfig: "hiredis", apt: "libhiredis-dev"),
        .nativeLibrary("CLibJPEG", pkgConfig: "libjpeg", apt: "libjpeg62-turbo-dev"),
        .nativeLibrary("CLibPQ", pkgConfig: "libpq", apt: "libpq-dev"),
        .nativeLibrary("CLibCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev"),
        .nativeLibrary("CNGHTTP2", pkgConfig: "libnghttp2", apt: "libnghttp2-dev"),
        .nativeLibrary("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev"),
        .nativeLibrary("CSeccomp", pkgConfig: "libseccomp", apt: "libseccomp-dev"),
        .nativeLibrary("CVips", pkgConfig: "vips", apt: "libvips-dev"),
        .nativeLibrary("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev"),
        .systemLibrary(name: "CLinux", path: "Shared/C/CLinux"),
        // Without optimisation its sums are not in registers, so a debug build optimises it too. It chooses instructions when it starts.
        .target(name: "CFaceNet", path: "Shared/C/CFaceNet", cSettings: [.unsafeFlags(["-O2"])]),
        .target(name: "CRaster", path: "Shared/C/CRaster", cSettings: [.unsafeFlags(["-O2"])]),
        .target(name: "CJPEG", dependencies: ["CLibJPEG"], path: "Shared/C/CJPEG", cSettings: [.unsafeFlags(["-O2"])]),

        // MARK: Modules which know nothing of this product
        .shared("AsyncPrimitives", []),
        .shared("BuildVersion", []),
        .shared("RedisClient", ["AsyncPrimitives", "CHiredis", .nioCore, .nioPosix, .nioSSL, .logging, .lifecycle]),
        .shared("PostgresClient", ["AsyncPrimitives", "CLibPQ", .logging, .lifecycle, .deque]),
        .shared("HTTPClient", ["AsyncPrimitives", "CLibCurl", "CNGHTTP2", "COpenSSL", .logging, .lifecycle, .deque]),
        // Not named Crypto: swift-crypto, which Hummingbird brings along, has a target of that name.
        .shared("HeliographCrypto", ["COpenSSL"], path: "Shared/Crypto"),
        .shared("Multipart", []),
        .shared("JSON", []),
        .shared("ImageProbe", []),
        .shared("Sandbox", ["CSeccomp"]),
        .shared("Imaging", ["CJPEG", "CLinux", "CRaster", "CVips", "ImageProbe", .logging, .metrics]),
        .shared("FaceEngine", ["AsyncPrimitives", "CFaceNet", "ImageProbe", "Imaging", "HeliographCrypto"]),
        // Its own program, because a sandbox is that of a process. The workers start it; it is installed beside them.
        .executableTarget(
            name: "image-decoder", dependencies: ["BuildVersion", "Imaging", "Sandbox"], path: "Tools/image-decoder",
            swiftSettings: sharedSettings),

        // MARK: What the services share
        // Not named Tracing: swift-distributed-tracing has a module of that name.
        .shared(
            "HeliographTracing", ["HTTPClient", "JSON", "WireFormat", .instrumentation, .tracing, .logging, .metrics, .lifecycle],
            path: "Shared/Tracing"),
        .shared("WireFormat", ["JSON"]),
        .shared("Push", ["PostgresClient", "HeliographCrypto", "JSON", "WireFormat"]),
        .shared("BlobStore", ["AsyncPrimitives", "CLinux", "HTTPClient", "HeliographCrypto", "WireFormat", .logging, .nioCore, .nioPosix]),
        .shared(
            "EventBus",
            [
                "AsyncPrimitives", "RedisClient", "PostgresClient", "HeliographTracing", "Push", "WireFormat", .tracing, .logging,
                .metrics, .lifecycle, .deque,
            ]),
        .shared("Schema", ["HeliographCrypto", "PostgresClient", "Push"]),
        .shared(
            "Accounts", ["EventBus", "HeliographCrypto", "JSON", "PostgresClient", "Push", "Schema", "WireFormat", .logging, .metrics]),
        .shared("Pictures", ["Accounts", "EventBus", "PostgresClient", "WireFormat"]),
        .shared("Topics", ["Accounts", "Pictures", "PostgresClient", "Push", "WireFormat"]),
        .shared("FCM", ["HTTPClient", "HeliographCrypto", "JSON", "Push", "WireFormat", .logging, .lifecycle]),
        .shared("Mail", ["AsyncPrimitives", "CLibCurl", "HTTPClient", .logging, .metrics, .lifecycle]),
        .shared("ImageGenerators", ["HTTPClient", "HeliographCrypto", "ImageProbe", "Imaging", "JSON", .logging, .nioCore, .nioPosix]),
        .shared(
            "ServiceDefaults",
            [
                "Accounts", "AsyncPrimitives", "BuildVersion", "RedisClient", "PostgresClient", "HTTPClient", "Schema", "EventBus",
                "BlobStore", "HeliographCrypto", "HeliographTracing", "JSON", .hummingbird, .instrumentation,
                .logging, .metrics, .coreMetrics, .unixSignals, .lifecycle, .configuration, .argumentParser,
            ]),

        // MARK: What apps use
        .target(
            name: "MobileClient", path: "Shared/MobileClient", exclude: ["Package.swift"],
            resources: [.copy("Apple/PrivacyInfo.xcprivacy")],
            // Also in debug builds: its tests explore all interleavings of its state machines.
            swiftSettings: sharedSettings + [.unsafeFlags(["-O"])]),

        // MARK: The services
        .serviceLibrary(
            "IdentityAPI", of: "identity-api",
            [
                "Schema", "AsyncPrimitives", "CZlib", "Multipart", "JSON", "ImageProbe", "BlobStore", "HTTPClient", "HeliographCrypto",
                "HeliographTracing", "Mail", "Pictures", "Topics", .tracing, .hummingbird, .hummingbirdCore, .nioCore, .nioHTTP1,
                .httpTypes, .deque,
            ],
            resources: [.embedInCode("Resources")]),
        .service("identity-api", library: "IdentityAPI"),
        .serviceLibrary(
            "FaceMatchingWorker", of: "face-matching-worker",
            ["AsyncPrimitives", "FaceEngine", "Imaging", "BlobStore", "HeliographCrypto", .tracing]),
        .service("face-matching-worker", library: "FaceMatchingWorker"),
        .serviceLibrary(
            "ImageWorker", of: "image-worker",
            ["AsyncPrimitives", "ImageGenerators", "Imaging", "ImageProbe", "BlobStore", "HTTPClient", "Pictures", "Topics", .tracing]),
        .service("image-worker", library: "ImageWorker"),
        .serviceLibrary("TokenRegistry", of: "token-registry", ["AsyncPrimitives", "HeliographTracing", "Schema", "Topics"]),
        .service("token-registry", library: "TokenRegistry"),
        .serviceLibrary(
            "Notifier", of: "notifier",
            ["AsyncPrimitives", "FCM", "HTTPClient", "HeliographCrypto", "HeliographTracing", "BlobStore", "Topics", .tracing, .deque]),
        .service("notifier", library: "Notifier"),

        // MARK: Tools
        .target(
            name: "CommandLineSupport", dependencies: ["ServiceDefaults", .argumentParser, .logging],
            path: "Tools/CommandLineSupport", swiftSettings: sharedSettings),
        .target(
            name: "HeliographCtl",
            dependencies: [
                "BlobStore", "BuildVersion", "CommandLineSupport", "EventBus", "FaceEngine", "HTTPClient", "HeliographCrypto",
                "ImageGenerators", "ImageProbe", "Imaging", "PostgresClient", "Push", "RedisClient", "ServiceDefaults", "Accounts",
                "Pictures", "Schema", "WireFormat", .argumentParser, .logging,
            ],
            path: "Tools/heliographctl/HeliographCtl", swiftSettings: sharedSettings),
        .executableTarget(
            name: "heliographctl", dependencies: ["HeliographCtl"], path: "Tools/heliographctl/main", swiftSettings: sharedSettings),
        .target(
            name: "HeliographLoad",
            dependencies: [
                "BuildVersion", "CommandLineSupport", "HTTPClient", "JSON", "Multipart", "ServiceDefaults", "WireFormat",
                .argumentParser, .deque, .unixSignals,
            ],
            path: "Tools/heliograph-load/HeliographLoad", swiftSettings: sharedSettings),
        .executableTarget(
            name: "heliograph-load", dependencies: ["HeliographLoad", .argumentParser], path: "Tools/heliograph-load/main",
            swiftSettings: sharedSettings),
        // Its phones are apps: of the backend's modules they have the version, and the cryptography for their hardware.
        .target(
            name: "MobileSim", dependencies: ["BuildVersion", "HeliographCrypto", "MobileClient", .argumentParser],
            path: "Tools/mobile-sim/MobileSim", swiftSettings: sharedSettings),
        .executableTarget(
            name: "mobile-sim", dependencies: ["MobileSim", .argumentParser], path: "Tools/mobile-sim/main", swiftSettings: sharedSettings),
        .target(
            name: "FCMEmulator",
            dependencies: [
                "AsyncPrimitives", "HeliographCrypto", "JSON", .hummingbird, .hummingbirdCore, .nioCore, .nioHTTP1, .nioPosix, .nioSSL,
                .nioHTTP2, .nioHPACK, .httpTypes, .logging, .lifecycle,
            ],
            path: "Tools/fcm-emulator/FCMEmulator", resources: [.embedInCode("Resources")], swiftSettings: sharedSettings),
        .executableTarget(
            name: "fcm-emulator", dependencies: ["BuildVersion", "FCMEmulator", .argumentParser, .logging, .lifecycle, .unixSignals],
            path: "Tools/fcm-emulator/main",
            swiftSettings: sharedSettings),
        // Its listener and its answers are those of the other emulator.
        .target(
            name: "GeminiEmulator",
            dependencies: ["FCMEmulator", "HeliographCrypto", "JSON", .hummingbird, .nioCore, .httpTypes, .logging, .lifecycle],
            path: "Tools/gemini-emulator/GeminiEmulator", swiftSettings: sharedSettings),
        .executableTarget(
            name: "gemini-emulator",
            dependencies: ["BuildVersion", "FCMEmulator", "GeminiEmulator", .argumentParser, .logging, .lifecycle, .unixSignals],
            path: "Tools/gemini-emulator/main", swiftSettings: sharedSettings),
        .target(
            name: "TestSupport",
            dependencies: [
                "AsyncPrimitives", "HTTPClient", "HeliographCrypto", "ImageProbe", "Imaging", "Multipart", "PostgresClient", "Push",
                "Accounts", "Schema", "WireFormat", .logging, .nioCore, .nioPosix,
            ],
            path: "Tests/TestSupport", swiftSettings: sharedSettings),
        .executableTarget(
            name: "heliograph-bench",
            dependencies: [
                "Accounts", "BuildVersion", "CommandLineSupport", "TestSupport", "EventBus", "PostgresClient", "Push", "RedisClient",
                "ServiceDefaults", "Schema", "WireFormat", "FaceEngine", "ImageProbe", "Imaging", "HTTPClient", "JSON", "FCM",
                "HeliographCrypto", .argumentParser, .logging,
            ],
            path: "Tools/bench", exclude: ["FaceNet", "Reference"], swiftSettings: sharedSettings),
        .target(
            name: "FaultLedger", dependencies: ["JSON", "PostgresClient", "WireFormat"], path: "Tools/faults/Ledger",
            swiftSettings: sharedSettings),
        .executableTarget(
            name: "fault-worker",
            dependencies: [
                "BuildVersion", "FaultLedger", "EventBus", "PostgresClient", "RedisClient", "WireFormat", .argumentParser, .logging,
                .lifecycle, .unixSignals,
            ],
            path: "Tools/faults/Worker", swiftSettings: sharedSettings),
        .target(
            name: "FaultMatrix",
            dependencies: [
                "Schema", "CommandLineSupport", "FaultLedger", "EventBus", "HTTPClient", "PostgresClient", "RedisClient", "Accounts",
                "TestSupport", "WireFormat", .logging,
            ],
            path: "Tools/faults/Matrix", swiftSettings: sharedSettings),
        .executableTarget(
            name: "heliograph-faults", dependencies: ["BuildVersion", "FaultMatrix", "TestSupport", .argumentParser],
            path: "Tools/faults/main",
            swiftSettings: sharedSettings),

        .executableTarget(
            name: "hostile-decoder", dependencies: ["CSeccomp", "CSystemCalls", "Imaging", "Sandbox"], path: "Tests/HostileDecoder",
            swiftSettings: sharedSettings),
        .systemLibrary(name: "CSystemCalls", path: "Tests/CSystemCalls"),

        // MARK: Tests
        .tests("AsyncPrimitivesTests", ["AsyncPrimitives", "TestSupport"]),
        .tests("RedisClientTests", ["CHiredis", "RedisClient", "TestSupport", .nioCore, .logging]),
        .tests("PostgresClientTests", ["PostgresClient", "TestSupport", .logging, .inMemoryLogging, .lifecycle]),
        .tests("TracingTests", ["HeliographTracing", "TestSupport", .instrumentation, .tracing, .logging, .lifecycle]),
        .tests("HTTPClientTests", ["AsyncPrimitives", "HTTPClient", "FCMEmulator", "TestSupport", .logging]),
        .tests("CryptoTests", ["HeliographCrypto"]),
        .tests("MultipartTests", ["Multipart", "TestSupport"]),
        .tests("JSONTests", ["JSON", "TestSupport"]),
        .tests("ImageProbeTests", ["ImageProbe", "MobileClient", "TestSupport"]),
        .tests(
            "ImagingTests",
            [
                "CRaster", "CSeccomp", "Imaging", "ImageProbe", "Sandbox", "ServiceDefaults", "TestSupport", "image-decoder",
                "hostile-decoder", .logging,
            ]),
        .tests("BlobStoreTests", ["BlobStore", "HTTPClient", "HeliographCrypto", "TestSupport", .logging, .nioCore]),
        .tests(
            "FaceEngineTests",
            ["AsyncPrimitives", "CFaceNet", "FaceEngine", "Imaging", "HeliographCrypto", "TestSupport", "image-decoder", .logging]),
        // Of Push, Schema, Accounts, Pictures and Topics: ADR 39.
        .tests(
            "StorageTests",
            [
                "JSON", "HeliographCrypto", "Accounts", "Pictures", "Push", "Schema", "Topics", "PostgresClient", "WireFormat",
                "TestSupport",
            ]),
        .tests(
            "EventBusTests",
            [
                "AsyncPrimitives", "EventBus", "HeliographCrypto", "RedisClient", "PostgresClient", "Push", "Schema", "WireFormat",
                "TestSupport", .logging, .lifecycleTestKit,
            ]),
        .tests("ContractTests", ["EventBus", "FCM", "Push", "TestSupport", "WireFormat"], exclude: ["Fixtures"]),
        .tests("MailTests", ["CLibCurl", "FCMEmulator", "Mail", "TestSupport", .logging]),
        .tests(
            "FCMTests", ["FCM", "FCMEmulator", "HTTPClient", "HeliographCrypto", "JSON", "Push", "TestSupport", "WireFormat", .logging]),
        .tests(
            "ImageGeneratorsTests",
            [
                "ImageGenerators", "GeminiEmulator", "HTTPClient", "HeliographCrypto", "Imaging", "ImageProbe", "TestSupport",
                "image-decoder", .logging, .nioPosix,
            ]),
        .tests(
            "FCMEmulatorTests",
            [
                "FCM", "FCMEmulator", "HTTPClient", "HeliographCrypto", "JSON", "TestSupport", .logging, .nioCore, .nioEmbedded,
                .nioHPACK, .nioPosix,
            ]),
        .tests(
            "ServiceDefaultsTests",
            [
                "AsyncPrimitives", "ServiceDefaults", "EventBus", "HeliographCrypto", "HeliographTracing", "JSON", "TestSupport",
                "HTTPClient", "PostgresClient", "RedisClient", "Accounts", "Schema", "WireFormat", .coreMetrics, .logging, .lifecycle,
            ]),
        .tests(
            "IdentityAPITests",
            [
                "AsyncPrimitives", "IdentityAPI", "FCMEmulator", "ServiceDefaults", "EventBus", "Accounts", "Pictures", "Push", "Schema",
                "Topics", "PostgresClient", "WireFormat", "HTTPClient", "HeliographCrypto", "BlobStore", "JSON", "Mail", "MobileClient",
                "MobileSim", "TestSupport", .logging, .lifecycle, .httpTypes, .hummingbirdCore, .nioCore, .nioEmbedded, .nioPosix,
            ]),
        .tests(
            "FaceMatchingWorkerTests",
            [
                "AsyncPrimitives", "FaceMatchingWorker", "FaceEngine", "EventBus", "PostgresClient", "WireFormat", "ServiceDefaults",
                "Accounts", "Schema", "BlobStore", "HeliographCrypto", "Imaging", "TestSupport", "image-decoder", .logging, .lifecycle,
                .nioCore,
            ]),
        .tests(
            "ImageWorkerTests",
            [
                "Accounts", "ImageWorker", "ImageGenerators", "GeminiEmulator", "HTTPClient", "Imaging", "ImageProbe", "EventBus",
                "PostgresClient",
                "Push", "RedisClient", "WireFormat", "ServiceDefaults", "Pictures", "Schema", "Topics", "BlobStore", "HeliographCrypto",
                "TestSupport", "image-decoder", .logging, .lifecycle, .nioCore,
            ]),
        .tests(
            "TokenRegistryTests",
            [
                "TokenRegistry", "ServiceDefaults", "EventBus", "Push", "WireFormat", "PostgresClient", "Accounts", "Schema", "Topics",
                "HeliographCrypto", "TestSupport", "HeliographTracing", .logging, .inMemoryLogging, .lifecycle,
            ]),
        .tests(
            "NotifierTests",
            [
                "Accounts", "AsyncPrimitives", "Notifier", "FCM", "FCMEmulator", "JSON", "ServiceDefaults", "EventBus", "Pictures", "Push",
                "Schema",
                "WireFormat", "PostgresClient", "RedisClient", "HeliographCrypto", "TestSupport", "HeliographTracing", .logging,
                .inMemoryLogging, .lifecycle,
            ]),
        .tests(
            "HeliographCtlTests",
            [
                "BlobStore", "BuildVersion", "CommandLineSupport", "FaceEngine", "HeliographCtl", "HeliographCrypto", "EventBus", "JSON",
                "PostgresClient", "Push", "RedisClient", "ServiceDefaults", "Accounts", "Pictures", "Schema", "TestSupport",
                "WireFormat", "image-decoder", .argumentParser, .lifecycle, .logging,
            ]),
        .tests("HeliographLoadTests", ["CommandLineSupport", "HeliographLoad", "HTTPClient", "TestSupport", .argumentParser, .logging]),
        .tests(
            "ErasureTests",
            [
                "BlobStore", "EventBus", "FaceMatchingWorker", "HeliographCrypto", "IdentityAPI", "ImageWorker", "Notifier",
                "PostgresClient", "ServiceDefaults", "Accounts", "Schema", "TestSupport", "TokenRegistry", "WireFormat", .logging,
            ]),
        .tests(
            "RaceTests",
            [
                "EventBus", "FaceEngine", "FaceMatchingWorker", "HeliographCrypto", "IdentityAPI", "PostgresClient", "ServiceDefaults",
                "Accounts", "Schema", "Topics", "TestSupport", "WireFormat", .logging,
            ]),
        .tests(
            "PushTests",
            [
                "FCMEmulator", "EventBus", "HTTPClient", "HeliographCrypto", "JSON", "PostgresClient", "Push", "ServiceDefaults",
                "Accounts", "Schema", "Topics", "TestSupport", "WireFormat", .logging,
            ]),
        .tests(
            "EndToEndTests",
            [
                "BuildVersion", "TestSupport", "FaceEngine", "GeminiEmulator", "HTTPClient", "IdentityAPI", "Imaging", "Multipart",
                "PostgresClient", "Accounts", "Schema", "HeliographCrypto", .logging, .nioCore, .nioPosix,
            ]),
        .testTarget(
            name: "FaultTests", dependencies: ["FaultLedger", "FaultMatrix", "PostgresClient", "TestSupport", "WireFormat"],
            path: "Tests/FaultTests", swiftSettings: sharedSettings),
        .tests("BenchTests", ["heliograph-bench"]),
        .tests("TestSupportTests", ["TestSupport", "PostgresClient", "RedisClient", .logging]),
        // What libFuzzer runs, too: deploy/verify/fuzz.sh.
        .tests(
            "FuzzTests",
            [
                "BlobStore", "EventBus", "FCM", "HTTPClient", "HeliographCrypto", "HeliographTracing", "IdentityAPI", "ImageGenerators",
                "ImageProbe", "JSON", "Mail", "Multipart", "Push", "Accounts", "TestSupport", "WireFormat", .httpTypes,
            ]),
        .tests("MobileClientTests", ["MobileClient"], exclude: ["Mutations"]),
        .tests("MobileSimTests", ["MobileClient", "MobileSim", .argumentParser], exclude: ["Golden"]),
        .tests("TidyTests", []),
    ],
    cxxLanguageStandard: .cxx17
)

extension Target {
    /// A module map over a library of the system.
    static func nativeLibrary(_ name: String, pkgConfig: String, apt: String) -> Target {
        .systemLibrary(name: name, path: "Shared/C/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt])])
    }

    /// A module of `Shared/`.
    static func shared(_ name: String, _ dependencies: [Dependency], path: String? = nil) -> Target {
        .target(name: name, dependencies: dependencies, path: path ?? "Shared/\(name)", swiftSettings: sharedSettings)
    }

    /// The library of a service: everything but its command line, so that tests run it in their own process.
    static func serviceLibrary(
        _ name: String, of service: String, _ dependencies: [Dependency], resources: [Resource] = []
    ) -> Target {
        .target(
            name: name,
            dependencies: [
                "Accounts", "ServiceDefaults", "EventBus", "Push", "WireFormat", "PostgresClient", .logging, .metrics, .lifecycle,
            ] + dependencies,
            path: "Services/\(service)/\(name)", resources: resources, swiftSettings: sharedSettings)
    }

    /// The executable of a service: one file that reads its arguments and runs the library.
    static func service(_ name: String, library: String) -> Target {
        .executableTarget(
            name: name, dependencies: [.byName(name: library), "ServiceDefaults", .argumentParser],
            path: "Services/\(name)/main", swiftSettings: sharedSettings)
    }

    static func tests(_ name: String, _ dependencies: [Dependency], exclude: [String] = []) -> Target {
        .testTarget(
            name: name, dependencies: dependencies, path: "Tests/\(name)", exclude: exclude, swiftSettings: sharedSettings)
    }
}

extension Target.Dependency {
    static let argumentParser = product(name: "ArgumentParser", package: "swift-argument-parser")
    static let configuration = product(name: "Configuration", package: "swift-configuration")
    static let deque = product(name: "DequeModule", package: "swift-collections")
    static let httpTypes = product(name: "HTTPTypes", package: "swift-http-types")
    static let hummingbird = product(name: "Hummingbird", package: "hummingbird")
    static let hummingbirdCore = product(name: "HummingbirdCore", package: "hummingbird")
    static let instrumentation = product(name: "Instrumentation", package: "swift-distributed-tracing")
    static let tracing = product(name: "Tracing", package: "swift-distributed-tracing")
    static let lifecycle = product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
    static let unixSignals = product(name: "UnixSignals", package: "swift-service-lifecycle")
    static let lifecycleTestKit = product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle")
    static let logging = product(name: "Logging", package: "swift-log")
    static let inMemoryLogging = product(name: "InMemoryLogging", package: "swift-log")
    static let coreMetrics = product(name: "CoreMetrics", package: "swift-metrics")
    static let metrics = product(name: "Metrics", package: "swift-metrics")
    static let nioCore = product(name: "NIOCore", package: "swift-nio")
    static let nioEmbedded = product(name: "NIOEmbedded", package: "swift-nio")
    static let nioHTTP1 = product(name: "NIOHTTP1", package: "swift-nio")
    static let nioHPACK = product(name: "NIOHPACK", package: "swift-nio-http2")
    static let nioHTTP2 = product(name: "NIOHTTP2", package: "swift-nio-http2")
    static let nioPosix = product(name: "NIOPosix", package: "swift-nio")
    static let nioSSL = product(name: "NIOSSL", package: "swift-nio-ssl")
}
