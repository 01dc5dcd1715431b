// swift-tools-version: 6.2
import PackageDescription

// The package that an app adds by its path in a checkout: by the root's Package.swift SwiftPM would fetch everything that the services
// need.
let package = Package(
    name: "MobileClient",
    platforms: [.iOS(.v16), .macOS(.v13)],
    products: [.library(name: "MobileClient", targets: ["MobileClient"])],
    targets: [
        .target(
            name: "MobileClient", path: ".", exclude: ["Package.swift"], resources: [.copy("Apple/PrivacyInfo.xcprivacy")],
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("InferIsolatedConformances"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ])
    ]
)
