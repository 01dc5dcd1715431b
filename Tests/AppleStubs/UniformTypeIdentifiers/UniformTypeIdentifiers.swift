// The symbols of Apple's Uniform Type Identifiers that Shared/MobileClient/Apple uses.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public struct UTType: Hashable, Sendable {
    public let identifier: String
    public static var jpeg: UTType { UTType(identifier: "public.jpeg") }
}
