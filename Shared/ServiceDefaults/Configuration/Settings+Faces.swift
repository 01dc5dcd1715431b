extension Settings {
    /// What `FACE_MODELS_PATH` has to be.
    public static let faceModelsExpectation = "the folder that deploy/local/fetch-models.sh fills"

    /// Reads `FACE_MODELS_PATH`, for the worker and for calibrations.
    public func faceModelsPath() throws(ConfigurationError) -> String {
        try string("FACE_MODELS_PATH", Self.faceModelsExpectation, about: "the three model files")
    }

    /// Reads `FACE_THRESHOLD`, for the worker and for calibrations.
    ///
    /// - Parameters:
    ///   - standard: The value when it is not set.
    ///   - range: The values for which the rule was calibrated.
    public func faceThreshold(default standard: Float, in range: ClosedRange<Float>) throws(ConfigurationError) -> Float {
        try number(
            "FACE_THRESHOLD", default: standard, in: range,
            about: "how near a face must be to the account's: 0.95 is strict, 1.04 lenient")
    }
}
