extension Duration {
    /// The duration, up to 30 % longer or shorter, so that many processes do not do the same at the same time.
    func jittered(random: Double = .random(in: -1...1)) -> Duration {
        self * (1 + 0.3 * random)
    }
}
