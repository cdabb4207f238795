# CASE: -mcpu=icelake-server -show-encoding %s
# CASE: -mcpu=icelake-server -timeline -timeline-max-iterations=1 -bottleneck-analysis %s
	callq	_ZNSt8__detail9_Map_baseISsSt4pairIKSsiESaIS3_ENS_10_Select1stESt8equal_toISsESt4hashISsENS_18_Mod_range_hashingENS_20_Default_ranged_hashE
	vgf2p8affineqb	$255, some_very_long_symbol_name_with_an_offset+0x1234567(%rip){1to8}, %zmm30, %zmm31 {%k7} {z}
	movabsq	$0x7fedcba987654321, %r15

