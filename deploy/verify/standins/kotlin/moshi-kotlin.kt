package com.squareup.moshi.kotlin.reflect

import com.squareup.moshi.JsonAdapter

class KotlinJsonAdapterFactory : JsonAdapter.Factory
