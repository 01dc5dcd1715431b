internal import BlobStore
internal import ServiceDefaults

/// The settings of device keys.
struct DeviceKeyConfiguration: Sendable {
    /// Who signs in with a device key.
    var policy = DeviceKeyPolicy.optional
    /// What a sign-in needs on a new device.
    var newDevices = NewDevicePolicy.code
    /// The URLs at which apps reach the API, beside `PUBLIC_URL`.
    var otherURLs: [PublicURL] = []

    init() {}

    /// Reads `DEVICE_KEYS` and `API_URLS`.
    init(_ settings: Settings) throws(ConfigurationError) {
        policy = try settings.choice(
            "DEVICE_KEYS", default: policy,
            about: "`required`: sign-ins without a proof of a device's key (`DPoP`) get 401 `device_key_required`, and apps without "
                + "keys can neither sign in nor refresh; `optional`: apps may send one, and the sign-in is bound to its key then")
        newDevices = try NewDevicePolicy.read(settings)
        let (name, expectation) = ("API_URLS", "URLs such as https://api.example.org, separated by commas")
        let text = try settings.optionalString(
            name, expectation, about: "at which apps reach identity-api beside `PUBLIC_URL`: proofs of device keys name one of them")
        for part in (text ?? "").split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
            guard let url = PublicURL(String(part)) else {
                throw ConfigurationError(name, "is not valid: one part is no URL", expectation: expectation)
            }
            otherURLs.append(url)
        }
    }
}

/// Whether sign-ins need a device key.
enum DeviceKeyPolicy: String, CaseIterable, Sendable {
    /// A sign-in is bound to a key if the app sends a proof.
    case optional
    /// Each sign-in needs one.
    case required
}
