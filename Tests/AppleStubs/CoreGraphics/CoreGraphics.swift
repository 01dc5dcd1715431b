// The type of Apple's Core Graphics that Shared/MobileClient/Apple uses.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public final class CGImage {}
