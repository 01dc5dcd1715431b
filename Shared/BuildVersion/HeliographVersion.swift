#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The version of all executables, one for the whole repository.
///
/// Without Foundation, because `image-decoder` does not link it.
public enum HeliographVersion {
    /// The version that this source is released as, of semantic versioning 2.0; with a suffix until then.
    public static let number = "1.0.0-dev"
    /// The environment variable that names the build, such as its commit; images have it from their build.
    public static let buildSetting = "HELIOGRAPH_VERSION"

    /// The number, with the build where it is named: `1.0.0-dev (v0-12-g1a2b3c)`.
    public static var current: String { text(build: getenv(buildSetting).map { String(cString: $0) }) }

    static func text(build: String?) -> String {
        guard let build, !build.isEmpty else { return number }
        return "\(number) (\(build))"
    }
}
